import { describe, expect, it } from 'vitest'
import { listed } from '../../shared/format.ts'
import { problem } from '../../shared/problem.ts'
import { HOUSE } from '../preview/front-samples.ts'
import { samples } from '../preview/samples.ts'
import { extras, script, style, views } from './assets.ts'
import { brandSheet, contrast, mix } from './brand.ts'
import { inLanguage } from './chosen-language.ts'
import { texts } from './html.ts'
import { renderStop } from './index.ts'
import { markdown } from './parts/markdown.ts'
import { LANGUAGES, type Language, WORDS } from './words/words.ts'

const NOW_MS = Date.parse('2026-11-27T12:00:00Z')
const EVIL = `"><script>alert('1')</script>`
const evil = { called: EVIL, brand: { name: EVIL, logo: '/"onerror="x', sheet: '/b.css' } }
const sampled = (lang: Language, changes: Partial<Parameters<typeof samples>[0]> = {}) =>
  samples({ lang, nowMs: NOW_MS, ...changes })

/** The page without the data for its script. */
const withoutData = (html: string) => html.replace(/<script type="application\/json"[\s\S]*?<\/script>/g, '')

const bodyOf = (html: string) => html.slice(html.indexOf('<body'))

/** Finds errors that no page may have, whatever its state and its sale's name. */
function faultsOf(html: string, lang: Language): string[] {
  const faults: string[] = []
  const must = (isSo: boolean, rule: string) => void (isSo || faults.push(rule))
  const never = (form: RegExp, rule: string, within = html) => {
    const found = within.match(form)
    if (found) faults.push(`${rule}: ${found}`)
  }
  must(html.startsWith('<!doctype html>'), 'no document')
  must(html.includes(`<html lang="${lang}" dir="${lang === 'ar' ? 'rtl' : 'ltr'}">`), 'wrong language or direction')
  must(html.match(/<main/g)?.length === 1, 'not one main part')
  never(/<script>alert/, 'unescaped name')
  never(/<script(?![^>]*( src=|json"))|<style|\son\w+=|\sstyle=/g, 'inline script or style')
  never(/undefined|NaN|\[object/g, 'missing value')
  never(
    / (?:src|href|action)="(?!\/|data:(?:image\/svg\+xml)?,|#main"|https:\/\/shop\.example\/(sales\/demo(\/posts)?)?")[^"]*/g,
    'address of another host',
  )
  // A placeholder may remain only in the script's texts.
  never(/\{\w+\}/g, 'placeholder', withoutData(html).replace(/ data-[\w-]+="[^"]*"/g, ''))
  never(/ (?:action|form)=""/, 'empty address of a form')
  never(/<svg[^>]* hidden/, 'hidden attribute of a drawing')
  never(
    /<p\b[^>]*>(?:(?!<\/p>)[\s\S])*?<(?:dialog|div|form|section|[uod]l|h\d|details|p)\b[^>]*>/,
    'block in a paragraph',
  )
  never(/href="\/sales\/demo\/posts\/0"/, 'link to a page that does not exist')
  // A template is shown in place of the elements around it.
  const shown = html.replace(/<template [\s\S]*?<\/template>/g, '')
  must((shown.match(/ autofocus/g)?.length ?? 0) <= 1, 'several fields with the focus')
  must(shown.replace(/<div data-when="\w+" hidden>[\s\S]*?<\/h1>/g, '').match(/<h1/g)?.length === 1, 'not one heading')
  const ids = [...shown.matchAll(/ id="([^"]+)"/g)].map((match) => match[1])
  must(new Set(ids).size === ids.length, 'an id used twice')
  for (const [, id] of html.matchAll(/aria-labelledby="([^"]+)"/g))
    must(ids.includes(id), `no element with the label ${id}`)
  return faults
}

it.each(LANGUAGES)('every page in %s is complete, escaped, labelled, and free of inline script and style', (lang) => {
  const pages = [...sampled(lang), ...(lang === 'en' ? sampled(lang, evil) : [])]
  expect(pages.length).toBeGreaterThan(100)
  expect(pages.flatMap(({ name, html }) => faultsOf(html, lang).map((fault) => `${name}: ${fault}`))).toEqual([])
})

it('a page that ends mails is complete', () => {
  for (const isDone of [false, true])
    expect(faultsOf(renderStop({ lang: 'en', words: WORDS.en, brand: HOUSE, isDone }), 'en')).toEqual([])
})

it('names are separated as their script does', () => {
  expect(LANGUAGES.map((lang) => listed(lang, ['1', '2']))).toEqual(['1, 2', '1, 2', '1, 2', '1, 2', '1、2', '1، 2'])
})

it('keeps a chosen language in each address that leads to a page', () => {
  const said = /( (?:href|action|data-path|data-home|data-back)="\/(?:sales\/[^"]*|me\/orders[^"]*)?")/g
  for (const { name, html } of sampled('de')) {
    const lost = (inLanguage(html, 'de').match(said) ?? []).filter((one) => !/lang=|\/schedule|brand\.css/.test(one))
    expect(lost, name).toEqual([])
  }
  const kept = (path: string) => inLanguage(`<a href="${path}">`, 'ar').slice(9, -2)
  expect(['/', '/sales/a', '/sales/a#restock', '/sales/a/opening.ics?line=b', '/sales/a?lang=de'].map(kept)).toEqual([
    ...['/?lang=ar', '/sales/a?lang=ar', '/sales/a?lang=ar#restock', '/sales/a/opening.ics?line=b&amp;lang=ar'],
    '/sales/a?lang=de',
  ])
  expect(['/images/a', '/assets/a.css', '/sales/a/schedule', 'https://x.example/'].map(kept)).toEqual([
    ...['/images/a', '/assets/a.css', '/sales/a/schedule', 'https://x.example/'],
  ])
})

it('names options in the visitor’s language, and separates their values as its script does', () => {
  const turn = (name: string, lang: Language) => sampled(lang).find((one) => one.name === name)?.html
  expect(turn('turn-sizes', 'de')).toContain('data-option="Größe"')
  expect(turn('turn-colours', 'ja')).toContain('data-name="Black、40"')
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
  const COUNTED = ['ahead', 'attemptsLeft', 'inDays'] as const
  const ALIKE = ['/address/eircode', '/address/province', '/address/district']
  const alike = new Set(['/fullStop', '/offline', '/total', '/front/inTime', ...ALIKE])
  for (const lang of LANGUAGES) {
    const words = new Map(flat(WORDS[lang]))
    // Each language has its own plural forms.
    const forms = new Intl.PluralRules(lang).resolvedOptions().pluralCategories
    for (const counted of COUNTED) expect(Object.keys(WORDS[lang][counted])).toEqual(expect.arrayContaining(forms))
    for (const [at, text] of english) {
      if (COUNTED.some((counted) => at === `/${counted}/one`)) continue
      expect(words.get(at), at).toEqual(expect.stringMatching(/\S/))
      if (lang !== 'en' && !alike.has(at)) expect(words.get(at), at).not.toBe(text)
    }
  }
})

const words = WORDS.en
const pages = new Map(sampled('en').map(({ name, html }) => [name, html]))
const page = (name: string) => pages.get(name) ?? ''
const fault = (field: string, text: string) => new RegExp(`id="fault-${field}" role="alert"[^>]*>${text}`)

type Look = string | RegExp | { readonly absent: string | RegExp }
const no = (absent: string | RegExp): Look => ({ absent })
const [OPENS, OPENED] = [/<small><span[^>]*pre_queue" >Opens</, /<span[^>]*open [^>]*" >Opened</]
const GIVEN_BACK = /<s><bdi>Stalls B<\/bdi>, <bdi>Row F, seat 7<\/bdi><\/s> <small>\(returned\)<\/small>/

/** The expected parts of pages, by the names of the samples. */
const LOOKS: Readonly<Record<string, Readonly<Record<string, readonly Look[]>>>> = {
  'explains a purchase of more than is left, while something is left': {
    'turn-sizes-less-left': [fault('product', words.lessLeftText)],
    'turn-less-left': ['<bdi>Vinyl, blue marble</bdi> has just gone.', /name="units:vinyl"[^>]* value=""/],
    'turn-too-many': ['Only 1 left: <bdi>Vinyl, blue marble</bdi>.', /name="units:vinyl"[^>]* value="1"/],
    'turn-all-in-carts-again': [words.turnAllInCarts],
  },
  'chooses nothing where there is a choice': {
    turn: [no(/ checked/)],
    'turn-last-one': [/type="hidden" name="product_id" value="tape"/],
  },
  'of a cart names what is gone, at its place and in the sum of the rest, and keeps the rest': {
    'turn-cart-gone': [
      /class="lost" role="alert" tabindex="-1" autofocus><p><b><bdi>T-shirt, L<\/bdi> has just gone\.<\/b>/,
      /value="shirt-l"\s+disabled><bdi>L<\/bdi><small>gone</,
      /<s><bdi>T-shirt, L<\/bdi><\/s> <\/dt><dd><span class="fault">gone</,
      /<bdi>Record × 2<\/bdi> <\/dt><dd>€58\.00<\/dd>[\s\S]*<dd>€82\.90<\/dd>/,
      /name="units:record"[^>]* value="2"/,
      /name="total_minor" value="8290"/,
      '<button class="button">Reserve the rest</button>',
      no(/ checked|autofocus[\s\S]*autofocus/),
    ],
    'turn-cart-quoted': [
      /name="size:shirt:1" value="shirt-l" checked[\s\S]*name="again" value="shirt"/,
      /name="units:record" min="0" max="2" value="2"/,
      /<button class="button second update" name="apply"/,
      no(/class="lost"|<s>/),
    ],
  },
  'of a turn in a hall offers the best seats, leads to a cart if there is more, and chooses none': {
    'hall-turn': [
      /name="best-quantity"[^>]* max="6" value=""/,
      /<option value="B" >from €48\.00<\/option>/,
      /name="best-kind" value="" checked[\s\S]*name="best-kind" value="accessible" ><span>Wheelchair place with companion</,
      /<button class="button" name="find" value="best" formnovalidate>Find seats</,
      /name="take" value="1"[\s\S]*>Go on without a seat<\/span><\/button>/,
      no(/name="(places|units):/),
      no(/name="seat:|name="product_id" value="[^"]/),
      // The first script recognises by this field that there is something to choose.
      'name="product_id" value=""',
      /id="hall" [^>]*data-version="1" data-limit="6"/,
    ],
    'hall-turn-offer': [
      words.hall.wouldTake,
      /<details class="best" id="best" >/,
      words.hall.notHeld,
      /name="seat:stalls-b:C-2" value="1" checked[\s\S]*name="offered" value="seat:stalls-b:C-2 seat:stalls-b:C-3"/,
      /<noscript><button [^>]*name="find" value="another" formnovalidate>/,
    ],
    'hall-turn-alone': [/<button class="button">Reserve<\/button>/, no('name="take"')],
    'hall-turn-back': [
      /id="chosen-seats"[\s\S]*>Take these<\/span><\/button>/,
      // What the cart has is kept, and counts.
      /type="hidden" name="places:standing" value="2"[\s\S]*type="hidden" value="2" data-price/,
    ],
    'hall-cart': [
      /<bdi>Row F, seat 7<\/bdi>[\s\S]*type="hidden" name="seat:stalls-b:F-7" value="1"\s+data-seat-price="4800"/,
      /name="remove"\s+value="seat:stalls-b:F-7" formnovalidate/,
      /name="hall" value="1" formnovalidate>Change seats</,
      /name="places:standing"[^>]* value="2"[\s\S]*name="units:programme"/,
      /<bdi>Stalls B, Row F, seat 8<\/bdi>[\s\S]*€48\.00[\s\S]*€172\.00/,
      no('id="hall"'),
    ],
    'hall-cart-empty': [/A seat in the hall[\s\S]*from €48\.00[\s\S]*name="hall" value="1" formnovalidate>Choose</],
    // The map needs the chart, and prices are not offered as a filter without it.
    'hall-turn-without-chart': [no(/id="hall"|best-category/)],
    turn: [no('hall')],
  },
  'of a refused cart says why beside the part that it is about, and keeps the rest': {
    'hall-turn-fewer': [
      fault('best', words.hall.fewer),
      /name="best-quantity"[^>]* value="6"[^>]*aria-describedby="fault-best"/,
      /<option value="stalls-b" selected>[\s\S]*<option value="B" selected>/,
    ],
    'hall-cart-gone': [/Standing<\/bdi> has just gone/, 'name="seat:stalls-b:F-7"'],
    'hall-turn-nothing-chosen': [words.hall.chooseFirst],
  },
  'of an order names each seat, and strikes through and says what was given back': {
    'hall-order-partly-returned, hall-orders, hall-receipt': [
      GIVEN_BACK,
      '<bdi>Stalls B</bdi>, <bdi>Row F, seat 8</bdi>',
    ],
    'hall-order': [/<bdi>Standing<\/bdi> ×\u00a02[\s\S]*<bdi>Programme book<\/bdi>/, no('<s>')],
  },
  'asks to sign in before it offers to join, and says who is signed in': {
    'sale-sign-in, sale-sign-in-refused': [
      /<a class="button wide" href="\/sign-in">Sign in<\/a>[\s\S]*<button class="button wide second">/,
    ],
    'sale-signed-in': [
      /Signed in to the shop as: <b><bdi>Ada<\/bdi><\/b>[\s\S]*<button class="button wide ">/,
      no('/sign-in'),
      // A reload requests the page with the visitor's place.
      'data-path="/sales/demo/line"',
    ],
  },
  'says that the draw decides, and not the number of the visitor': {
    lobby: [/<dt>Your draw number<\/dt>[\s\S]*says nothing about your place[^<]*the draw decides/],
  },
  'of a turn counts down, and offers a quantity where the limit is more than one': {
    turn: ['>5:00</time>', /name="units:vinyl" min="0" max="2" value=""/],
    'turn-sizes': [/name="quantity" min="1" max="2"/],
    'turn-half-over': ['>1:23</time>'],
    'turn-last-one': [no('name="quantity"')],
  },
  'offers messages by push beside a turn and an order, while some may come': {
    'turn, hall-cart, hall-turn-alone, order-reserved, order-confirmed': ['id="notice-push"'],
    'order-expired, order-refunded': [no('id="notice-push"')],
  },
  'without a script reloads at the end of a turn, and now and then after a missed one': {
    'turn-half-over': ['http-equiv="refresh" content="84"'],
    'missed-turn': ['http-equiv="refresh" content="60"'],
  },
  'of a line lets one fill in size, address and mail ahead, if the sale asks for them': {
    'line-prepare': [/<li class="scripted">[\s\S]*<details id="prepare"[\s\S]*value="aurora-42"[\s\S]*name="country"/],
    line: [no('id="prepare"')],
  },
  'states how long a turn waits for its visitor': {
    'sale-open, lobby, line': ['Be back for your turn: it waits 3 minutes for you.'],
  },
  'switches from Opens to Opened while it stays open': {
    lobby: [OPENS, /<span[^>]*open [^>]*" hidden>Opened</],
    line: [OPENED, no(OPENS)],
  },
  'states why an order was cancelled': {
    'order-cancelled-declined': [/<h1[^>]*>The payment was declined</, 'pay in another way'],
    'order-cancelled': [words.cancelledText],
  },
  'says in its own words why a payment was declined, and how often one may try again': {
    'order-declined-once': [words.declinedFor.insufficient_funds, 'You can try 2 more times.'],
    // The code is known only to a newer origin.
    'order-declined-twice': [words.declinedFor.declined, 'You can try once more.'],
    'order-declined-once, order-declined-twice': [/id="hold"[\s\S]*value="pm_ok"/],
  },
  'asks nobody for a card where there is nothing to pay': {
    payment: [/<stripe-payment [\s\S]* data-amount="7800" data-currency="EUR"/],
    'payment-free': [no(/<stripe-payment|What you enter here/), /action="[^"]*\/payment"[\s\S]*€0\.00<\/button>/],
  },
  'of a sale that is over leads to what else is on, and to a mail about a restock': {
    'sold-out, ended, missed-turn, problem-unknown-sale': [/<a class="button ?(second)?" href="\/">All sales</],
    line: ['href="/sales/demo#restock"'],
    'sold-out': ['id="restock"'],
    'site-ended, site-line-ended': [no('All sales')],
  },
  'of a sale to come offers to be reminded, and any to share it': {
    'sale-upcoming': ['Remind me', 'data-share="/sales/demo"'],
    'sale-open': ['data-share="/sales/demo"'],
  },
  'of the front has a drawing in place of a missing picture': {
    front: [/<div class="pic none " aria-hidden="true"><\/div>\s*<span class="chip/],
  },
  'of a search shows state and price of each hit': {
    'search-found': [/<time [^>]*data-short>[\s\S]*<b>€189\.00<\/b>[\s\S]*Sold out/],
  },
  'without a script says when it was right': {
    'sale-open, line': ['It is right as of 12:00:00 UTC.'],
  },
  'promises a mail only where one is sent': {
    'order-sizes-confirmed': [
      `<b><bdi>ada@example.org</bdi></b><br>${words.after.mailText}`,
      '<span class="lines" dir="auto">Ada Lindqvist\nElm Row 12\n10119 Berlin\nGermany</span>',
    ],
    'order-handover': [words.after.keepText, no(words.after.mailText)],
  },
  'says that a payment was declined in another tone and with a sign': {
    'order-declined-once, order-declined-twice': [/<div class="band bad">[\s\S]*<svg class="icon"[\s\S]*<h1/],
    'order-reserved': [no('band bad')],
  },
  'of a receipt has no announcement above it': {
    receipt: [no('id="shop-announcement"')],
    'order-confirmed': ['id="shop-announcement"'],
  },
  'says before what is reserved is given back that others may come first': {
    'order-reserved': [/Give it back(?:(?!<\/details>)[\s\S])*others who wait may come first/],
  },
  'leads a buyer to their bank, and says until when': {
    'order-awaiting-3ds': [/<a class="button" href="\/bank">/, '>4:48</time>'],
    // The maximum is the time that the bank gives, not the remaining time.
    'payment-confirms, order-awaiting-3ds': ['<progress max="300"'],
  },
  'distinguishes too many unpaid orders, which is final, from too many requests': {
    'order-cancelled-too_many, problem-too-many-orders': [
      `>${words.cancelledFor.too_many[0]}</h1>`,
      words.cancelledFor.too_many[1],
    ],
    'problem-too-many-requests': ['Please wait a moment'],
    'problem-unpaid-nearby': [words.unpaidNearby[0]],
    'problem-others-first': [words.problems['too-many-orders'][0]],
  },
  'warns of a wait that is longer than the sale': {
    'line-too-late': [`>${words.waitPastEnd}</h2>`],
    line: [/id="wait"[^>]*>About 5 minutes to go</],
  },
  'states the end of a countdown where there is no script': {
    'order-reserved': ['<noscript><b>until 12:01:08 UTC</b></noscript>'],
  },
  'gives each countdown its own date': {
    lobby: [/>Opens <b><time [^>]*data-at="opens_at">Nov 27, 2026, 12:12.PM UTC/],
    'sale-upcoming': [
      /The lobby opens in<[\s\S]*>The lobby opens <b><time [^>]*data-at="pre_queue_opens_at">Nov 29, 2026, 12:24.PM UTC/,
      /pre_queue_opens_at">[^<]*<\/time><\/b><\/p>\s*<p class="small quiet">Opens <b><time [^>]*data-at="opens_at">/,
    ],
  },
  'links to the shop’s payment page, or offers the sandbox’s methods': {
    'order-reserved': ['value="pm_ok"'],
    'order-paid-elsewhere': [no('pm_'), /href="\/pay\/[0-9a-f-]{36}">Pay €78.00</],
  },
  'of a sale that protects a site explains that a turn leads there, and links to it at the end': {
    'sale-open': ['90 seconds'],
    'site-open': [words.stepSiteText, no('90 seconds')],
    'site-ended, site-line-ended': ['/demo/wanted"'],
    ended: [no('/wanted"')],
  },
  'shows about how much is left, at the door and in line, until the end': {
    'sale-lobby-open, sale-open, line': [
      /<small data-phases="upcoming [^"]*" ><span data-product="vinyl">about 410 left</,
    ],
    'sold-out, ended, goods-sold-out': [no('data-product')],
  },
  'of a sale to come leads to its opening for a calendar': {
    'sale-upcoming, sale-lobby-open, lobby': [/<a href="\/sales\/demo\/opening\.ics" download="demo\.ics">/],
    'line-of-members': ['href="/sales/demo/opening.ics?line=members"'],
  },
  'of a pause shows its reason': {
    'sale-paused-with-reason, line-paused-with-reason': [
      /data-reason dir="auto" lang="en" >The payment provider has a fault/,
    ],
    'line-paused': [/data-reason dir="auto" lang="en" hidden><\/p>/],
  },
  'draws the line from its first place to one’s own, or to the end of the stock where that is further': {
    line: [/class="ahead" width="100\.00%".*class="served" width="61\.99%"/, /id="lasts" hidden/],
    'line-likely': [
      /class="ahead" width="(5\d\.\d\d)%"[\s\S]*<line x1="\1%"/,
      /id="lasts" ><dt>Stock lasts to about<\/dt><dd id="lasts-to">13,523</,
    ],
    'line-not-likely': [/class="ahead" width="100\.00%"/],
  },
  'offers to give the place up, and what is reserved, in two steps': {
    line: [/<details[^>]*>\s*<summary class="quiet">Give up my place(?:(?!<\/details>)[\s\S])*\/leave"/],
    'order-reserved': [/<details[^>]*>\s*<summary>Give it back(?:(?!<\/details>)[\s\S])*\/cancel"/],
  },
}

it.each(Object.entries(LOOKS))('a page %s', (_, looks) => {
  for (const [names, wanted] of Object.entries(looks))
    for (const name of names.split(', '))
      for (const look of wanted) {
        if (typeof look === 'object' && 'absent' in look) {
          expect(pages.has(name), name).toBe(true)
          expect(page(name), name).not.toMatch(look.absent)
        } else expect(page(name), name).toMatch(look)
      }
})

describe('a page', () => {
  it('of a refused purchase says why beside the field, and keeps what was chosen and typed', () => {
    expect(page('turn-wrong-fields')).toMatch(fault('cart', 'At most 2 per person, all orders together'))
    expect(page('turn-wrong-email')).toMatch(fault('email', words.emailWrong))
    expect(page('turn-wrong-email')).toMatch(/name="email"[^>]* value="ada@home"[^>]* aria-describedby="fault-email"/)
    for (const name of ['turn-wrong-email', 'turn-wrong-fields', 'turn-try-again']) {
      expect(page(name), name).toMatch(/name="units:vinyl"[^>]* value="2"/)
      expect(page(name), name).not.toMatch(/invalid-fields|<code>/)
    }
    // After a 503 the first attempt may have succeeded, so the key stays. After any other problem it changes.
    expect(page('turn-try-again')).toContain('name="idempotency_key" value="a-key"')
    expect(page('turn-wrong-email')).not.toContain('value="a-key"')
    expect(page('turn-try-again')).toContain(words.problems['try-again'][1])
    expect(page('turn-paused-again')).toContain(words.turnPaused)
    expect(page('turn-paused-again')).not.toContain(words.problems['try-again'][1])
  })

  it('of a taken seat names it, and has the nearest chosen instead beside what else was chosen', () => {
    const taken = page('hall-turn-seat-taken')
    expect(taken).toContain('Somebody else was faster: Stalls B, Row F, seat 7.')
    const seats = (html: string) => [...html.matchAll(/name="seat:([^"]+)" value="1" checked/g)].map(([, seat]) => seat)
    expect(seats(taken)).toEqual(['stalls-b:G-9', 'stalls-b:G-10'])
    expect(taken).toMatch(/<bdi>Stalls B<\/bdi>, <bdi>Row G, seat 9<\/bdi><\/span>\s*<b>€48\.00</)
    expect(seats(page('hall-turn-seat-taken-no-offer'))).toEqual(['stalls-b:F-8'])
    expect(page('hall-turn-seat-taken-no-offer')).toContain(words.hall.noOffer)
    const cart = page('hall-cart-seat-taken')
    expect(cart).toContain('Somebody else was faster: Stalls B, Row F, seat 7.')
    expect([...cart.matchAll(/name="seat:([^"]+)" value="1"/g)].map(([, seat]) => seat)).toEqual([
      ...['stalls-b:G-9', 'stalls-b:G-10'],
    ])
    expect(cart).toMatch(/name="places:standing"[^>]* value="2"/)
  })

  it('names what was bought in the visitor’s language, else as it was sold', () => {
    const receipt = (lang: Language) => sampled(lang).find(({ name }) => name === 'receipt-sizes')?.html
    expect(receipt('de')).toContain('<td><bdi>Aurora Eins, 42</bdi>')
    expect(receipt('fr')).toContain('<td><bdi>Aurora One, 42</bdi>')
  })

  it('names a line as people do', () => {
    const line = (lang: Language, name: string) =>
      /class="of-line"><bdi>([^<]*)</.exec(sampled(lang).find((one) => one.name === name)?.html ?? '')?.[1]
    expect(line('en', 'line-of-all')).toBe('Your line: for everyone')
    expect(line('de', 'line-of-members')).toBe('Deine Schlange: Mitglieder des Clubs')
    expect(line('fr', 'line-of-members')).toContain('Members of the club')
    expect(line('en', 'line')).toBeUndefined()
  })

  it('of a test sale says so', () => {
    expect(page('sale-test')).toContain(words.testSale)
    expect(page('sale-test')).toContain('content="noindex"')
    for (const [name, html] of pages) expect(html.includes(words.testSale), name).toBe(name.endsWith('-test'))
    // The shop's own page would take real money.
    expect(page('order-test')).toContain('value="pm_ok"')
    expect(page('order-paid-elsewhere')).not.toContain('value="pm_ok"')
  })

  it('of a receipt names the seller, the tax, the date with its zone and what it was paid with, in each language', () => {
    const texts = {
      en: [/Including VAT \(19%\)/, /€12\.45/, /Visa card ending in 4242/],
      fr: [/Dont VAT \(19\s%\)/, /12,45\s€/, /Carte Visa se terminant par 4242/],
    }
    const seller = [/Halfway Records Ltd/, /Harbour Street 4\n10115 Berlin/, /DE123456789/]
    const date = /<time datetime="2026-11-27T11:59:38.000Z" data-moment>[^<]*2026[^<]*UTC</
    for (const lang of ['en', 'fr'] as const) {
      const html = sampled(lang).find(({ name }) => name === 'receipt-by-card')?.html
      for (const text of [...texts[lang], ...seller, date]) expect(html).toMatch(text)
    }
    expect(page('receipt')).toContain(`<dd>${words.methods.pm_ok}</dd>`)
    expect(page('receipt-without-seller')).toContain(`<dd>${words.onlinePayment}</dd>`)
    expect(page('receipt-without-seller')).not.toMatch(/Seller|Tax number|Including/)
  })

  it('of a turn while all is in carts offers nothing, and reloads', () => {
    expect(page('turn-all-in-carts')).toContain(words.turnAllInCarts)
    expect(page('turn-all-in-carts')).toContain('>5:00</time>')
    expect(page('turn-all-in-carts')).not.toMatch(/<form|<input/)
    expect(page('turn-all-in-carts')).toMatch(/http-equiv="refresh" content="5"/)
    for (const [name, html] of pages) expect(html, name).not.toMatch(/checked\s+disabled/)
  })

  it('isolates names of any writing direction', () => {
    const called = 'ערב!'
    for (const { name, html } of sampled('en', { called, brand: { name: called } }))
      expect(withoutData(html.slice(html.indexOf('<body'))), name).not.toMatch(/(?<!<bdi)>[^<]*ערב!/)
  })

  it('says how far the stock is likely to last, and nothing while nobody knows', () => {
    const outlook = (name: string) => {
      const [, title, text] = /data-outlook="\w+" ><h2>([^<]*)<\/h2><p [^>]*>([^<]*)</.exec(page(name)) ?? []
      return [title, text].join(': ')
    }
    expect(outlook('line-likely')).toMatch(
      /^It will probably reach you: .*for about 9,000 more in line; you are number [\d,]+\.$/,
    )
    expect(outlook('line-not-likely')).toMatch(/^It will probably not reach you: .*for about 900 more in line;/)
    expect(outlook('line-all-in-carts-gone')).toBe(words.outlookGone.join(': '))
    for (const name of ['line', 'lobby', 'line-too-late-unlikely'])
      expect(page(name), name).not.toMatch(/data-outlook="\w+" >/)
  })

  it('says what the shop announces in the visitor’s language or in English, with its level as a word', () => {
    const said = (lang: Language, name: string) => {
      const html = sampled(lang).find((one) => one.name === name)?.html ?? ''
      return /id="shop-announcement"[^>]*>([\s\S]*?)<\/div>/.exec(html)?.[1] ?? ''
    }
    for (const name of ['sale-announced', 'line-announced', 'sold-out-announced']) {
      expect(said('ar', name), name).toContain('<p dir="auto" lang="ar">تصل مئة')
      expect(said('de', name), name).toContain('<p dir="auto" lang="en">At 15:00')
    }
    for (const name of ['sale-warned', 'turn-warned', 'line-paused-with-reason'])
      expect(said('de', name), name).toMatch(/data-level="warning">\s*<p><b>Wichtig</)
    expect(said('en', 'line')).toBe('')
  })

  it('is found by search engines only where it is the same for all, and its sale allows it', () => {
    const isFound = (html: string) => !html.includes('<meta name="robots" content="noindex">')
    const found = [...pages].flatMap(([name, html]) => (isFound(html) ? name : []))
    expect(found).toEqual(
      expect.arrayContaining(['sale-upcoming', 'sale-lobby-open', 'sale-open', 'sale-all-in-carts']),
    )
    expect(found.filter((name) => !/^((goods-)?(sale|site)-|front|posts)/.test(name))).toEqual([])
    for (const name of ['sale-not-indexed', 'sale-invitation-entered', 'sale-invitation-none', 'site-ended'])
      expect(found).not.toContain(name)
  })

  it('of a sale describes it to those who show a link to it', () => {
    const head = page('sale-lobby-open')
    expect(head).toContain('<link rel="canonical" href="https://shop.example/sales/demo">')
    expect(head).toMatch(
      /<meta name="description" content="Opens: Nov 27, 2026, 12:12.PM UTC. Vinyl, blue marble \(€39.00\) · /,
    )
    expect(head).toContain('<meta property="og:locale" content="en_US">')
    expect(head).toMatch(
      /property="og:image" content="https:\/\/shop.example\/assets\/flash-sale-share\.[0-9a-f]{16}\.png"/,
    )
    expect(head).toMatch(/<meta property="og:image:alt" content="[^"]+">/)
    const own = sampled('en', { brand: { name: 'Halfway', logo: '/logo.png' } })[1]?.html
    expect(own).toContain('property="og:image" content="https://shop.example/logo.png"')
    expect(own).toContain('<meta property="og:site_name" content="Halfway">')
    expect(own).toContain('"organizer":{"@type":"Organization","name":"Halfway"')
    const unnamed = sampled('en', { brand: { name: 'Night Swim, first pressing' } })[1]?.html
    expect(unnamed).not.toMatch(/og:site_name|organizer/)
    for (const [name, html] of pages)
      if (!/^((goods-)?(sale|site)-|front)/.test(name)) expect(html, name).not.toContain('og:')
  })

  it('of goods shows their pictures without a jump, the first at once, and shares the sale’s own', () => {
    const html = page('goods-sale-open')
    const images = [...html.matchAll(/<img [^>]*>/g)].map(([image]) => image)
    expect(images).toHaveLength(5)
    for (const [i, image] of images.entries()) {
      expect(image).toMatch(/ width="1440" height="1\d\d\d" /)
      expect(image).toContain(i === 0 ? 'fetchpriority="high"' : 'loading="lazy"')
    }
    expect(html).toContain(`<source type="image/webp" srcset="/images/${'a'.repeat(32)}/320.webp 320w`)
    expect(html).toContain(`property="og:image" content="https://shop.example/images/${'a'.repeat(32)}/1280.jpg"`)
  })

  it('of goods says what they are in the visitor’s language, and what is left of each size', () => {
    const html = page('goods-sale-open')
    expect(html).toContain('<strong>dyed by hand</strong>')
    expect(html).toMatch(/<summary>Terms of sale<\/summary>[\s\S]*<strong>free<\/strong>/)
    expect(html).toMatch(/<bdi>42\.5<\/bdi> *<small [^>]*data-product="aurora-42\.5" data-size >9 left</)
    expect(html).toMatch(/data-product="aurora-37" data-size data-none>gone</)
    expect(html).toContain('Germany, Austria (from €6.90)')
    const german = sampled('de').find(({ name }) => name === 'goods-sale-open')?.html
    expect(german).toMatch(/<bdi>Aurora Eins<\/bdi>[\s\S]*noch 9</)
    expect(german).toContain('Deutschland, Österreich')
  })

  it('leads to each other language by an address, where the page has one', () => {
    expect(page('line')).toMatch(
      /<a href="\/sales\/demo\/line\?lang=de" lang="de" hreflang="de" rel="nofollow">Deutsch</,
    )
    expect(page('sale-invitation-entered')).toContain('href="/sales/demo?invitation=SUMMER-24&amp;lang=fr"')
    expect(page('problem-internal')).not.toContain('lang=de')
    for (const [name, html] of pages) expect(html, name).not.toContain('?lang=en')
  })

  it('of a sale is an event with offers to programs, whatever its name', () => {
    const [{ html = '' } = {}] = sampled('en', evil)
    const data = JSON.parse(/<script type="application\/ld\+json">(.*?)<\/script>/s.exec(html)?.[1] ?? '')
    expect(data).toMatchObject({ '@type': 'SaleEvent', name: EVIL, url: 'https://shop.example/sales/demo' })
    expect(data.offers).toMatchObject([
      { '@type': 'Offer', price: '39.00', priceCurrency: 'EUR', availability: 'https://schema.org/PreSale' },
      { price: '129.00', availability: 'https://schema.org/SoldOut' },
      { itemOffered: { '@type': 'Product', name: 'Cassette' } },
    ])
  })

  it('of a brand without a name has its colours, and names the sale once', () => {
    const brand = { name: 'Night Swim, first pressing', sheet: '/assets/brand.css' }
    for (const { name, html } of sampled('en', { brand })) {
      expect(html, name).toContain('href="/assets/brand.css"')
      if (/^(sale-|sold-out|ended)/.test(name))
        expect(
          bodyOf(html)
            .replace(/ data-name="[^"]*"/g, '')
            .match(/Night Swim/g),
          name,
        ).toHaveLength(1)
    }
  })

  it('names wrong fields in the visitor’s language', () => {
    const german = sampled('de').find(({ name }) => name === 'turn-wrong-fields')?.html
    expect(german).toMatch(fault('cart', 'Höchstens 2 pro Person, alle Bestellungen zusammen'))
    expect(german).not.toMatch(/Some fields are not valid|must be at least/)
  })
})

describe('colours are readable', () => {
  const [light, dark] = style.body
    .split(/prefers-color-scheme: *dark/)
    .map((css) => Object.fromEntries([...css.matchAll(/--([\w-]+): *(#[0-9a-f]{3,6})/g)].map((m) => [m[1], six(m[2])])))

  it.each([
    ['light', light],
    ['dark', { ...light, ...dark }],
  ])('in the %s look', (_name, colours = {}) => {
    const { paper, raised, ink, quiet, accent, good, hold, bad } = colours as Record<string, string>
    for (const ground of [paper, raised])
      for (const text of [ink, quiet, colours['accent-text'], good, hold, bad])
        expect(contrast(text ?? '', ground ?? '')).toBeGreaterThanOrEqual(4.5)
    expect(contrast(colours['on-accent'] ?? '', accent ?? '')).toBeGreaterThanOrEqual(4.5)
  })

  it('whatever accent a brand sets', () => {
    for (let r = 0; r < 256; r += 51)
      for (let g = 0; g < 256; g += 51)
        for (let b = 0; b < 256; b += 51) {
          const accent = `#${[r, g, b].map((c) => c.toString(16).padStart(2, '0')).join('')}`
          const sheet = brandSheet({ accent })
          const found = [...sheet.matchAll(/--accent:(.{7});--on-accent:(.{7});--accent-text:(.{7})/g)]
          expect(found).toHaveLength(2)
          for (const [i, [, fill = '', on = '', text = '']] of found.entries()) {
            expect(contrast(on, fill), sheet).toBeGreaterThanOrEqual(4.5)
            const { paper = '', raised = '' } = i === 0 ? light : { ...light, ...dark }
            for (const ground of [paper, raised, mix(paper, fill, i === 0 ? 0.08 : 0.12)])
              expect(contrast(text, ground), sheet).toBeGreaterThanOrEqual(4.5)
          }
        }
  })
})

const six = (colour = '') => (colour.length === 4 ? colour.replace(/[0-9a-f]/g, '$&$&') : colour)

it('renders markdown without what could harm a visitor', () => {
  const bad =
    '# Title\n\n<script>alert(1)</script> [a](javascript:alert(1)) ![b](https://evil.example/x.png) <img src=x onerror=y>'
  const html = String(markdown(bad))
  expect(html).not.toMatch(/<script|<img|href="javascript/)
  expect(html).toContain('<h3>Title</h3>')
  expect(String(markdown('[b](https://shop.example/sizes)'))).toContain('<a href="https://shop.example/sizes">b</a>')
})

it.each(['goods-sale-open', 'goods-line'])(
  'the first view of %s is at most 90 KB before its pictures',
  async (name) => {
    const html = sampled('en').find((one) => one.name === name)?.html ?? ''
    const parts = [html, style.body, script.body, extras.body, views.body]
    const packed = await Promise.all(parts.map(packedBytes))
    expect(packed.reduce((sum, bytes) => sum + bytes)).toBeLessThan(90_000)
  },
)

it('escapes the texts that a page gives its script, and writes their names as data attributes', () => {
  expect(texts({ waitAbout: `"><b>'&` }).join('')).toBe(' data-wait-about="&quot;&gt;&lt;b&gt;&#39;&amp;"')
})

it.each([
  ['first', 10, script],
  ['second', 8, extras],
])('the page’s %s script is smaller than %i KiB on the wire', async (_, most, { body }) => {
  const byteLength = await packedBytes(body)
  expect(byteLength).toBeGreaterThan(1_000)
  expect(byteLength).toBeLessThan(most * 1024)
})

async function packedBytes(text: string): Promise<number> {
  const packed = new Response(text).body?.pipeThrough(new CompressionStream('gzip'))
  return (await new Response(packed).arrayBuffer()).byteLength
}
