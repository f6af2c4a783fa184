/**
 * Where a visitor came from: as their page or their program says it, and as the short label by which views, joins,
 * turns and orders are counted. A label names a campaign or a site, never a person.
 */
import * as v from 'valibot'
import { exactly } from '../fields.ts'

/** An address of a page may be this long; longer texts of a source are refused, and cut off in a form. */
const MAX_SOURCE_TEXT = 2_048

const text = v.optional(
  v.pipe(v.string('text is required'), v.maxLength(MAX_SOURCE_TEXT, `at most ${MAX_SOURCE_TEXT} characters`)),
)

/** The parameters of the first page's address, and the page before it, or its host. */
export const Source = exactly({ utm_source: text, utm_medium: text, utm_campaign: text, referrer: text })
export type Source = v.InferOutput<typeof Source>

const SOURCE_FIELDS = ['utm_source', 'utm_medium', 'utm_campaign', 'referrer'] as const

/** The source that is written as parameters: in a page's address, or in the field of a form. */
export function sourceIn(parameters: { get(name: string): string | null }): Source {
  const given = SOURCE_FIELDS.flatMap((field) => {
    const value = parameters.get(field)?.slice(0, MAX_SOURCE_TEXT)
    return value ? [[field, value] as const] : []
  })
  return Object.fromEntries(given)
}

// -- Labels ---------------------------------------------------------------------------------------------------------

/** A label is part of a token's claims, so it is short. */
export const MAX_LABEL = 40
/** The label of visitors without a source: they typed the address, or their browser says nothing. */
export const TYPED = 'typed'
/** The label of sources that could name a person, and of those beyond a bound of whoever counts. */
export const OTHER_SOURCE = 'other'

export const SourceLabel = v.pipe(v.string(), v.regex(/^[a-z0-9.]([a-z0-9 ._-]{0,38}[a-z0-9._-])?$/))

/**
 * The label of a source: `utm_source`, with `utm_campaign` after a space, or the referrer's host; `typed` without
 * either. Pure.
 */
export function sourceLabel({ utm_source, utm_campaign, referrer }: Source = {}): string {
  const source = utm_source && part(utm_source)
  if (!source) return hostLabel(referrer) ?? TYPED
  // A campaign that could name a person is left out.
  const campaign = source !== OTHER_SOURCE && utm_campaign ? part(utm_campaign) : undefined
  return campaign && campaign !== OTHER_SOURCE ? cut(`${source} ${campaign}`) : source
}

function hostLabel(referrer: string | undefined): string | undefined {
  const host = referrer
    ?.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .split(/[/?#:]/)[0]
    ?.replace(/^www\./i, '')
  return host ? part(host) : undefined
}

/** One word of a label; undefined if nothing is left of it, `other` for what could name a person. */
function part(text: string): string | undefined {
  if (mayNamePerson(text)) return OTHER_SOURCE
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  const label = cut(plain.replace(/[^a-z0-9._-]+/g, ' '))
  return MEMBERS.has(label) ? OTHER_SOURCE : label || undefined
}

/** Counts are members of an object by label, and no reader of JSON takes these. */
const MEMBERS: ReadonlySet<string> = new Set(['constructor', 'prototype'])

const cut = (text: string) =>
  text
    .replace(/^[ _-]+/, '')
    .slice(0, MAX_LABEL)
    .trim()

/** Longer words are no words of a campaign, even in German. */
const MAX_WORD = 24
/** A telephone or customer number has at least so many digits. A date has eight, and begins with the century. */
const LONG_NUMBER = /(?<!\d)(?!20\d{6}(?!\d))\d{7,}/
/** A campaign's name changes between letters and digits a few times, a token or an identifier at almost every sign. */
const MAX_CHANGES = 5

/** True for an e-mail address, a telephone number, and a token or an identifier that could be one person's. */
export function mayNamePerson(text: string): boolean {
  if (/@|%40/.test(text) || LONG_NUMBER.test(text)) return true
  const changes = text.match(/(?<=\d)(?=\p{L})|(?<=\p{L})(?=\d)/gu)?.length ?? 0
  return changes > MAX_CHANGES || text.split(/[^\p{L}\p{N}]+/u).some((word) => word.length > MAX_WORD)
}
