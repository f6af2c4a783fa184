import { describe, expect, it } from 'vitest'
import { problem } from '../../shared/problem.ts'
import { script, style } from '../routes/assets.ts'
import { brandSheet, contrast } from './brand.ts'
import { html } from './html.ts'
import { type Sample, samples } from './samples.ts'
import { LANGUAGES, type Language, WORDS } from './words.ts'

const NOW_MS = Date.parse('2026-11-27T12:00:00Z')
const EVIL = `"><script>alert('1')</script>`
const evil = (lang: Language) =>
  samples({ lang, nowMs: NOW_MS, called: EVIL, brand: { name: EVIL, logo: '/"onerror="x', sheet: '/b.css' } })

describe.each([...LANGUAGES])('in %s', (lang) => {
  it.each(evil(lang).map((page): [string, Sample] => [page.name, page]))(
    'the page %s is whole, escaped, and free of inline script and style',
    (_name, { html: text }) => {
      expect(text).toMatch(/^<!doctype html>/)
      expect(text).toContain(`<html lang="${lang}">`)
      expect(text.match(/<main/g)).toHaveLength(1)
      expect(text).not.toContain('<script>alert')
      expect(text).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|undefined|NaN|\[object/)
      expect(text.match(/ (?:src|href|action)="(?!\/|data:,"|#main")/g)).toBeNull()
      // Only texts that the script fills in are left to be filled in.
      expect(text.replace(/ data-[\w-]+="[^"]*"/g, '')).not.toMatch(/\{\w+\}/)
    },
  )

  it.each(samples({ lang, nowMs: NOW_MS }).map((page): [string, Sample] => [page.name, page]))(
    'the page %s shows one heading, and names what it labels',
    (_name, { html: text }) => {
      const shown = text.replace(/<div data-when="\w+" hidden>[\s\S]*?<\/h1>/g, '')
      expect(shown.match(/<h1/g)).toHaveLength(1)
      const ids = [...text.matchAll(/ id="([^"]+)"/g)].map((match) => match[1])
      expect(new Set(ids).size).toBe(ids.length)
      for (const [, id] of text.matchAll(/aria-labelledby="([^"]+)"/g)) expect(ids).toContain(id)
    },
  )

  it('has words for every problem that English has words for', () => {
    const known = Object.keys(WORDS.en.problems)
    expect(Object.keys(WORDS[lang].problems).sort()).toEqual(known.sort())
    for (const type of known) expect(() => problem(type as 'ended')).not.toThrow()
  })
})

it('every language says something of its own for every word', () => {
  const flat = (value: unknown, at = ''): [string, unknown][] =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, inner]) => flat(inner, `${at}/${key}`))
      : [[at, value]]
  const english = flat(WORDS.en)
  const alike = new Set(['/offline'])
  for (const lang of LANGUAGES) {
    const words = new Map(flat(WORDS[lang]))
    for (const [at, text] of english) {
      expect(words.get(at), at).toEqual(expect.stringMatching(/\S/))
      if (lang !== 'en' && !alike.has(at)) expect(words.get(at), at).not.toBe(text)
    }
  }
})

describe('a page says what holds', () => {
  const words = WORDS.en
  const pages = new Map(samples({ lang: 'en', nowMs: NOW_MS }).map(({ name, html }) => [name, html]))
  const page = (name: string) => pages.get(name) ?? ''

  it('of a purchase that asked for more than is left, while there is something left', () => {
    expect(page('problem-less-left')).toContain(words.lessLeftText)
    expect(page('problem-too-many')).toContain(words.lessLeftText)
    expect(page('problem-less-left')).not.toMatch(/<form|Everything is in carts/)
    expect(page('problem-all-in-carts')).toContain('Everything is in carts')
  })

  it('of a quantity: no more than there is, and nothing to fill in where that is one', () => {
    expect(page('turn')).toMatch(/name="quantity" min="1" max="2"/)
    expect(page('turn-last-one')).not.toContain('name="quantity"')
  })

  it('of a turn while everything is in carts: nothing to reserve, and it looks again', () => {
    expect(page('turn-all-in-carts')).toContain(words.turnAllInCarts)
    expect(page('turn-all-in-carts')).toContain('>5:00</time>')
    expect(page('turn-all-in-carts')).not.toMatch(/<form|<input/)
    expect(page('turn-all-in-carts')).toMatch(/http-equiv="refresh" content="5"/)
    for (const { name, html } of samples({ lang: 'en', nowMs: NOW_MS }))
      expect(html, name).not.toMatch(/checked\s+disabled/)
  })

  it('without a script too: a turn is followed to its end, and one that has passed to the sale’s', () => {
    expect(page('turn-half-over')).toContain('http-equiv="refresh" content="84"')
    expect(page('missed-turn')).toContain('http-equiv="refresh" content="60"')
  })

  it('of a turn: how long it waits for whoever has closed the page', () => {
    for (const name of ['sale-open', 'lobby', 'line'])
      expect(page(name), name).toContain('Be back for your turn: it waits 3 minutes for you.')
  })

  it('of the opening: that it will be, or that it was, also where the page stays meanwhile', () => {
    const [opens, opened] = [/<dt>.*<span[^>]*pre_queue" >Opens</, /<dt>.*<span[^>]*open [^>]*" >Opened</]
    expect(page('lobby')).toMatch(opens)
    expect(page('lobby')).toMatch(/<span[^>]*open [^>]*" hidden>Opened</)
    expect(page('line')).toMatch(opened)
    expect(page('line')).not.toMatch(opens)
  })

  it('of an order that was cancelled: why, as far as it is told', () => {
    expect(page('order-cancelled-declined')).toMatch(/<h1[^>]*>The payment was declined</)
    expect(page('order-cancelled-declined')).toContain('pay in another way')
    expect(page('order-cancelled')).toContain(words.cancelledText)
  })

  it('of too many orders that came to nothing: that it is for good, and of too many requests that it is not', () => {
    const [title, text] = words.cancelledFor.too_many
    for (const name of ['order-cancelled-too_many', 'problem-too-many-orders']) {
      expect(page(name), name).toContain(`>${title}</h1>`)
      expect(page(name), name).toContain(text)
    }
    expect(page('problem-too-many-requests')).toContain('Please wait a moment')
  })

  it('of names: each by itself, whichever way it is read', () => {
    const called = 'ערב!'
    for (const { name, html } of samples({ lang: 'en', nowMs: NOW_MS, called, brand: { name: called } }))
      expect(html.slice(html.indexOf('<body')), name).not.toMatch(/(?<!<bdi)>[^<]*ערב!/)
  })

  it('of the time to choose: as long as the admission is good', () => {
    expect(page('turn')).toContain('>5:00</time>')
    expect(page('turn-half-over')).toContain('>1:23</time>')
  })

  it('of a wait that is longer than the sale', () => {
    expect(page('line-too-late')).toContain(`>${words.waitPastEnd}</b>`)
    expect(page('line')).toMatch(/id="wait"[^>]*>About 5 minutes to go</)
  })

  it('of when a countdown is over, to those without a script', () => {
    expect(page('order-reserved')).toContain('<noscript><b>until 12:01:08 UTC</b></noscript>')
    expect(page('lobby')).toMatch(/<noscript>.*Nov 27, 2026, 12:12.PM&nbsp;UTC/)
  })

  it('of paying: where the buyer pays, and of the sandbox only where it is played with', () => {
    expect(page('order-reserved')).toContain('value="pm_ok"')
    expect(page('order-paid-elsewhere')).not.toContain('pm_')
    expect(page('order-paid-elsewhere')).toMatch(/href="\/pay\/[0-9a-f-]{36}">Pay €78.00</)
  })

  it('of a turn: that it leads to the site that the sale stands before, where no hold begins', () => {
    expect(page('sale-open')).toContain('90 seconds')
    expect(page('site-open')).toContain(words.stepSiteText)
    expect(page('site-open')).not.toContain('90 seconds')
  })

  it('of the end: the way on to the site that is open to all now', () => {
    for (const name of ['site-ended', 'site-line-ended']) expect(page(name), name).toContain('/demo/wanted"')
    expect(page('ended')).not.toContain('/wanted"')
  })

  it('of what is left on the landing page only for as long as it stays true', () => {
    expect(page('sale-lobby-open')).toContain(
      '<small data-phases="upcoming pre_queue">about 412 left</small>',
    )
    expect(page('sale-open')).toContain('<noscript><small>about 412 left</small></noscript>')
  })

  it('of progress only where it is known from where it began', () => {
    expect(page('line')).toMatch(/<progress id="progress" max="100" value="61\.99"/)
    expect(page('line-after-opening')).toMatch(/<progress id="progress" max="100" hidden aria-label/)
  })

  it('gives a place up only in two steps', () => {
    expect(page('line')).toMatch(
      /<details[^>]*>\s*<summary>Give up my place(?:(?!<\/details>)[\s\S])*\/leave"/,
    )
  })

  it('names the sale once where nobody named a brand', () => {
    const nameless = samples({ lang: 'en', nowMs: NOW_MS, brand: { name: 'Night Swim, first pressing' } })
    for (const { name, html: text } of nameless.filter(({ name }) => /^(sale-|sold-out|ended)/.test(name)))
      expect(text.replace(/.*<body| data-name="[^"]*"/gs, '').match(/Night Swim/g), name).toHaveLength(1)
  })

  it('is coloured by a brand also where that has no name', () => {
    const brand = { name: 'Night Swim, first pressing', sheet: '/assets/brand.css' }
    for (const { name, html: text } of samples({ lang: 'en', nowMs: NOW_MS, brand }))
      if (!name.startsWith('problem-')) expect(text, name).toContain('href="/assets/brand.css"')
  })

  it('of wrong fields in the visitor’s language', () => {
    const german = samples({ lang: 'de', nowMs: NOW_MS }).find(({ name }) => name === 'problem-fields')
    expect(german?.html).toContain(WORDS.de.problemFields)
    expect(german?.html).toContain('<li>Anzahl: Höchstens 2 pro Person, alle Bestellungen zusammen</li>')
    expect(german?.html).not.toMatch(/Some fields are not valid|must be at least/)
  })
})

it('what is put into a template is escaped, unless it is HTML already', () => {
  expect(html`<p title="${'"'}">${['<', html`<b>${'&'}</b>`, 1, null, false]}</p>`.text).toBe(
    '<p title="&#34;">&#60;<b>&#38;</b>1</p>',
  )
})

describe('colours can be read', () => {
  const [light, dark] = style.body
    .split(/prefers-color-scheme: *dark/)
    .map((css) =>
      Object.fromEntries([...css.matchAll(/--([\w-]+): *(#[0-9a-f]{3,6})/g)].map((m) => [m[1], six(m[2])])),
    )

  it.each([
    ['light', light],
    ['dark', { ...light, ...dark }],
  ])('in the %s look', (_name, colours = {}) => {
    const { paper, card, ink, quiet, accent, good, hold, bad } = colours as Record<string, string>
    for (const ground of [paper, card])
      for (const text of [ink, quiet, colours['accent-text'], good, hold, bad])
        expect(contrast(text ?? '', ground ?? '')).toBeGreaterThanOrEqual(4.5)
    expect(contrast(colours['on-accent'] ?? '', accent ?? '')).toBeGreaterThanOrEqual(4.5)
  })

  it('whatever accent a brand sets', () => {
    expect(style.body).toMatch(/--tone: *var\(--accent-text\)/)
    for (let r = 0; r < 256; r += 51)
      for (let g = 0; g < 256; g += 51)
        for (let b = 0; b < 256; b += 51) {
          const accent = `#${[r, g, b].map((c) => c.toString(16).padStart(2, '0')).join('')}`
          const sheet = brandSheet({ accent })
          const found = [...sheet.matchAll(/--accent:(.{7});--on-accent:(.{7});--accent-text:(.{7})/g)]
          expect(found).toHaveLength(2)
          for (const [i, [, fill = '', on = '', text = '']] of found.entries()) {
            expect(contrast(on, fill), sheet).toBeGreaterThanOrEqual(4.5)
            const { paper = '', card = '', track = '' } = i === 0 ? light : { ...light, ...dark }
            for (const ground of [paper, card])
              expect(contrast(text, ground), sheet).toBeGreaterThanOrEqual(4.5)
            // Bars are of it as well, on their track.
            expect(contrast(text, track), sheet).toBeGreaterThanOrEqual(3)
          }
        }
  })
})

const six = (colour = '') => (colour.length === 4 ? colour.replace(/[0-9a-f]/g, '$&$&') : colour)

it('the page’s script is less than 10 KiB on the wire', async () => {
  const packed = new Response(script.body).body?.pipeThrough(new CompressionStream('gzip'))
  const { byteLength } = await new Response(packed).arrayBuffer()
  expect(byteLength).toBeGreaterThan(1_000)
  expect(byteLength).toBeLessThan(10 * 1024)
})
