import { describe, expect, it } from 'vitest'
import { problem } from '../../shared/problem.ts'
import { script, style } from './assets.ts'
import { brandSheet, contrast } from './brand.ts'
import { html } from './html.ts'
import { samples } from './samples.ts'
import { LANGUAGES, type Language, WORDS } from './words.ts'

const NOW_MS = Date.parse('2026-11-27T12:00:00Z')
const EVIL = `"><script>alert('1')</script>`
const evil = { called: EVIL, brand: { name: EVIL, logo: '/"onerror="x', sheet: '/b.css' } }
const sampled = (lang: Language, changes: Partial<Parameters<typeof samples>[0]> = {}) =>
  samples({ lang, nowMs: NOW_MS, ...changes })

describe.each([...LANGUAGES])('in %s', (lang) => {
  it.each(sampled(lang, evil))(
    'the page $name is complete, escaped, and free of inline script and style',
    ({ html }) => {
      expect(html).toMatch(/^<!doctype html>/)
      expect(html).toContain(`<html lang="${lang}">`)
      expect(html.match(/<main/g)).toHaveLength(1)
      expect(html).not.toContain('<script>alert')
      expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|undefined|NaN|\[object/)
      expect(html.match(/ (?:src|href|action)="(?!\/|data:,"|#main")/g)).toBeNull()
      // Only the script's texts may have placeholders left.
      expect(html.replace(/ data-[\w-]+="[^"]*"/g, '')).not.toMatch(/\{\w+\}/)
    },
  )

  it.each(sampled(lang))('the page $name shows one heading, and its labels have their elements', ({ html }) => {
    const shown = html.replace(/<div data-when="\w+" hidden>[\s\S]*?<\/h1>/g, '')
    expect(shown.match(/<h1/g)).toHaveLength(1)
    const ids = [...html.matchAll(/ id="([^"]+)"/g)].map((match) => match[1])
    expect(new Set(ids).size).toBe(ids.length)
    for (const [, id] of html.matchAll(/aria-labelledby="([^"]+)"/g)) expect(ids).toContain(id)
  })
})

it('has words for problems that exist', () => {
  for (const type of Object.keys(WORDS.en.problems)) expect(() => problem(type as 'ended')).not.toThrow()
})

it('every language translates every text', () => {
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

describe('a page', () => {
  const words = WORDS.en
  const pages = new Map(sampled('en').map(({ name, html }) => [name, html]))
  const page = (name: string) => pages.get(name) ?? ''

  it('explains a purchase of more than is left, while something is left', () => {
    expect(page('problem-less-left')).toContain(words.lessLeftText)
    expect(page('problem-too-many')).toContain(words.lessLeftText)
    expect(page('problem-less-left')).not.toMatch(/<form|Everything is in carts/)
    expect(page('problem-all-in-carts')).toContain('Everything is in carts')
  })

  it('of a turn counts down, and offers a quantity where the limit is more than one', () => {
    expect(page('turn')).toContain('>5:00</time>')
    expect(page('turn-half-over')).toContain('>1:23</time>')
    expect(page('turn')).toMatch(/name="quantity" min="1" max="2"/)
    expect(page('turn-last-one')).not.toContain('name="quantity"')
  })

  it('of a turn while all is in carts offers nothing, and reloads', () => {
    expect(page('turn-all-in-carts')).toContain(words.turnAllInCarts)
    expect(page('turn-all-in-carts')).toContain('>5:00</time>')
    expect(page('turn-all-in-carts')).not.toMatch(/<form|<input/)
    expect(page('turn-all-in-carts')).toMatch(/http-equiv="refresh" content="5"/)
    for (const [name, html] of pages) expect(html, name).not.toMatch(/checked\s+disabled/)
  })

  it('without a script reloads at the end of a turn, and now and then after a missed one', () => {
    expect(page('turn-half-over')).toContain('http-equiv="refresh" content="84"')
    expect(page('missed-turn')).toContain('http-equiv="refresh" content="60"')
  })

  it('states how long a turn waits for its visitor', () => {
    for (const name of ['sale-open', 'lobby', 'line'])
      expect(page(name), name).toContain('Be back for your turn: it waits 3 minutes for you.')
  })

  it('switches from Opens to Opened while it stays open', () => {
    const [opens, opened] = [/<dt>.*<span[^>]*pre_queue" >Opens</, /<dt>.*<span[^>]*open [^>]*" >Opened</]
    expect(page('lobby')).toMatch(opens)
    expect(page('lobby')).toMatch(/<span[^>]*open [^>]*" hidden>Opened</)
    expect(page('line')).toMatch(opened)
    expect(page('line')).not.toMatch(opens)
  })

  it('states why an order was cancelled', () => {
    expect(page('order-cancelled-declined')).toMatch(/<h1[^>]*>The payment was declined</)
    expect(page('order-cancelled-declined')).toContain('pay in another way')
    expect(page('order-cancelled')).toContain(words.cancelledText)
  })

  it('distinguishes too many unpaid orders, which is final, from too many requests', () => {
    const [title, text] = words.cancelledFor.too_many
    for (const name of ['order-cancelled-too_many', 'problem-too-many-orders']) {
      expect(page(name), name).toContain(`>${title}</h1>`)
      expect(page(name), name).toContain(text)
    }
    expect(page('problem-too-many-requests')).toContain('Please wait a moment')
    expect(page('problem-others-first')).toContain(words.problems['too-many-orders'][0])
  })

  it('isolates names of any writing direction', () => {
    const called = 'ערב!'
    for (const { name, html } of sampled('en', { called, brand: { name: called } }))
      expect(html.slice(html.indexOf('<body')), name).not.toMatch(/(?<!<bdi)>[^<]*ערב!/)
  })

  it('warns of a wait that is longer than the sale', () => {
    expect(page('line-too-late')).toContain(`>${words.waitPastEnd}</b>`)
    expect(page('line')).toMatch(/id="wait"[^>]*>About 5 minutes to go</)
  })

  it('states the end of a countdown where there is no script', () => {
    expect(page('order-reserved')).toContain('<noscript><b>until 12:01:08 UTC</b></noscript>')
    expect(page('lobby')).toMatch(/<noscript>.*Nov 27, 2026, 12:12.PM&nbsp;UTC/)
  })

  it('links to the shop’s payment page, or offers the sandbox’s methods', () => {
    expect(page('order-reserved')).toContain('value="pm_ok"')
    expect(page('order-paid-elsewhere')).not.toContain('pm_')
    expect(page('order-paid-elsewhere')).toMatch(/href="\/pay\/[0-9a-f-]{36}">Pay €78.00</)
  })

  it('of a sale that protects a site explains that a turn leads there, and links to it at the end', () => {
    expect(page('sale-open')).toContain('90 seconds')
    expect(page('site-open')).toContain(words.stepSiteText)
    expect(page('site-open')).not.toContain('90 seconds')
    for (const name of ['site-ended', 'site-line-ended']) expect(page(name), name).toContain('/demo/wanted"')
    expect(page('ended')).not.toContain('/wanted"')
  })

  it('shows what is left on the landing page only until that changes', () => {
    expect(page('sale-lobby-open')).toContain('<small data-phases="upcoming pre_queue">about 412 left</small>')
    expect(page('sale-open')).toContain('<noscript><small>about 412 left</small></noscript>')
  })

  it('shows progress only from a known start', () => {
    expect(page('line')).toMatch(/<progress id="progress" max="100" value="61\.99"/)
    expect(page('line-after-opening')).toMatch(/<progress id="progress" max="100" hidden aria-label/)
  })

  it('offers to give the place up in two steps', () => {
    expect(page('line')).toMatch(/<details[^>]*>\s*<summary>Give up my place(?:(?!<\/details>)[\s\S])*\/leave"/)
  })

  it('of a brand without a name has its colours, and names the sale once', () => {
    const brand = { name: 'Night Swim, first pressing', sheet: '/assets/brand.css' }
    for (const { name, html } of sampled('en', { brand })) {
      expect(html, name).toContain('href="/assets/brand.css"')
      if (/^(sale-|sold-out|ended)/.test(name))
        expect(html.replace(/.*<body| data-name="[^"]*"/gs, '').match(/Night Swim/g), name).toHaveLength(1)
    }
  })

  it('names wrong fields in the visitor’s language', () => {
    const german = sampled('de').find(({ name }) => name === 'problem-fields')?.html
    expect(german).toContain(WORDS.de.problemFields)
    expect(german).toContain('<li>Anzahl: Höchstens 2 pro Person, alle Bestellungen zusammen</li>')
    expect(german).not.toMatch(/Some fields are not valid|must be at least/)
  })
})

it('a template escapes its values, unless they are HTML already', () => {
  expect(html`<p title="${'"'}">${['<', html`<b>${'&'}</b>`, 1, null, false]}</p>`.text).toBe(
    '<p title="&#34;">&#60;<b>&#38;</b>1</p>',
  )
})

describe('colours are readable', () => {
  const [light, dark] = style.body
    .split(/prefers-color-scheme: *dark/)
    .map((css) => Object.fromEntries([...css.matchAll(/--([\w-]+): *(#[0-9a-f]{3,6})/g)].map((m) => [m[1], six(m[2])])))

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
            for (const ground of [paper, card]) expect(contrast(text, ground), sheet).toBeGreaterThanOrEqual(4.5)
            // Progress bars have this colour too, on their track.
            expect(contrast(text, track), sheet).toBeGreaterThanOrEqual(3)
          }
        }
  })
})

const six = (colour = '') => (colour.length === 4 ? colour.replace(/[0-9a-f]/g, '$&$&') : colour)

it('the page’s script is smaller than 10 KiB on the wire', async () => {
  const packed = new Response(script.body).body?.pipeThrough(new CompressionStream('gzip'))
  const { byteLength } = await new Response(packed).arrayBuffer()
  expect(byteLength).toBeGreaterThan(1_000)
  expect(byteLength).toBeLessThan(10 * 1024)
})
