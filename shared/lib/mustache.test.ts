import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readTemplate, renderTemplate, type TemplateData } from './mustache.ts'

const render = (template: string, data: TemplateData = {}) => renderTemplate(readTemplate(template), data)

it.each<readonly [template: string, data: TemplateData, text: string]>([
  ['Wait {{waitTime}} min', { waitTime: 7 }, 'Wait 7 min'],
  [
    '{{ name }}, {{{ name }}}, {{& name }}',
    { name: `<a href="/">&'` },
    `&lt;a href=&quot;/&quot;&gt;&amp;&#39;, <a href="/">&', <a href="/">&'`,
  ],
  ['{{#known}}yes{{/known}}{{^known}}no{{/known}}', { known: true }, 'yes'],
  ['{{#known}}yes{{/known}}{{^known}}no{{/known}}', { known: false }, 'no'],
  ['{{#known}}yes{{/known}}{{^known}}no{{/known}}', {}, 'no'],
  ['{{#wait}}{{wait}}{{/wait}}{{^wait}}none{{/wait}}', { wait: 0 }, 'none'],
  ['{{#a}}1{{#b}}2{{/b}}3{{/a}}{{#b}}4{{/b}}', { a: true, b: false }, '13'],
  ['a{{! a comment }}b{{constructor}}', {}, 'ab'],
  ['<p>\n  {{#a}}\n  one\n  {{/a}}\n</p>\n', { a: true }, '<p>\n  one\n</p>\n'],
  ['{{#a}}\none\n{{/a}}', { a: true }, 'one\n'],
  ['<p> {{#a}} one {{/a}} </p>\n', { a: true }, '<p>  one  </p>\n'],
  ['@media print { a { b: c } }', {}, '@media print { a { b: c } }'],
])('renders %j with %j', (template, data, text) => {
  expect(render(template, data)).toBe(text)
})

it.each([
  ['{{#a}}', 'does not end "a" (line 1)'],
  ['\n{{/a}}', 'ends "a", which is not open (line 2)'],
  ['{{#a}}{{#b}}{{/a}}{{/b}}', 'ends "a", which is not open (line 1)'],
  ['a\n\n{{name', 'has a tag without an end (line 3)'],
  ['{{> other}}', 'has {{>, which is not for such templates (line 1)'],
  ['{{=<% %>=}}', 'has {{=, which is not for such templates (line 1)'],
])('refuses %j', (template, why) => {
  expect(() => readTemplate(template)).toThrow(why)
})

it('lets no value of a variable out of its place', () => {
  fc.assert(
    fc.property(fc.string(), (name) => {
      expect(render('<b title="{{name}}">', { name })).not.toMatch(/title="[^"]*["<>][^>]/)
    }),
  )
})
