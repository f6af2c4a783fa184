/** The operators' calls about views: the rules that decide which views count, and what they answer. */
import * as v from 'valibot'
import { exactly, ID, ID_FORM, instant, note, SaleId, whole } from '../fields.ts'
import { isRuleAddress } from '../views/view-identity.ts'

const MAX_VIEW_RULES = 50
/** The windows of rules are bounded, since a worker that starts reads as much of the log again. */
export const MAX_WINDOW_MINUTES = 60
/** A page that has to be seen for longer would leave most views undecided. */
const MAX_MIN_SECONDS = 600
const MAX_LIST = 500

const minutes = whole(1, MAX_WINDOW_MINUTES)
const Addresses = v.pipe(
  v.array(
    v.pipe(
      v.string('text is required'),
      v.trim(),
      v.check(isRuleAddress, 'an address, or a network of /24 (IPv4) or /48 (IPv6) or larger, is required'),
    ),
    'a list is required',
  ),
  v.maxLength(MAX_LIST, `at most ${MAX_LIST}`),
)
const Asns = v.pipe(
  v.array(whole(1, 4_294_967_295), 'a list is required'),
  v.maxLength(MAX_LIST, `at most ${MAX_LIST}`),
)

const ruleOf = <const Kind extends string, const Fields extends v.ObjectEntries>(kind: Kind, fields: Fields) =>
  exactly(
    {
      kind: v.literal(kind),
      /** The name of the rule, which stays when others are moved. Without one it is made of the kind. */
      rule: v.optional(v.pipe(v.string('text is required'), v.regex(ID, ID_FORM))),
      on: v.optional(v.boolean('true or false'), true),
      note,
      ...fields,
    },
    ['dropped', 'examples'],
  )

export const VIEW_RULE_KINDS = [
  ...['min_seconds', 'repeat', 'bots', 'data_centres', 'staff', 'rate', 'addresses', 'networks'],
] as const

const ViewRule = v.variant(
  'kind',
  [
    /** Drops views that were seen for less time. */
    ruleOf('min_seconds', { seconds: whole(1, MAX_MIN_SECONDS) }),
    /** Drops a visitor's view of a page who has begun another view of it in the minutes before. */
    ruleOf('repeat', { minutes }),
    /** Drops bots that say so by their user agent. */
    ruleOf('bots', {}),
    /** Drops views from networks of data centres (origin/views/data-centres.ts). */
    ruleOf('data_centres', {}),
    /** Drops the shop's own people. */
    ruleOf('staff', { addresses: Addresses }),
    /** Drops views beyond so many in these minutes. */
    ruleOf('rate', {
      views: whole(1, 100_000),
      minutes,
      per: v.picklist(['pseudonym', 'address'], 'pseudonym or address'),
    }),
    ruleOf('addresses', { list: Addresses }),
    ruleOf('networks', { asns: Asns }),
  ],
  `kind must be one of ${VIEW_RULE_KINDS.join(', ')}`,
)

/** The rules in order: the first that drops a view is the one that is said to have dropped it. */
export const ViewRules = v.pipe(
  v.array(ViewRule, 'a list is required'),
  v.maxLength(MAX_VIEW_RULES, `at most ${MAX_VIEW_RULES} rules`),
  v.transform((rules) => {
    const kinds = new Map<string, number>()
    return rules.map((one) => {
      const same = (kinds.get(one.kind) ?? 0) + 1
      kinds.set(one.kind, same)
      return { ...one, rule: one.rule ?? (same === 1 ? one.kind : `${one.kind}-${same}`) }
    })
  }),
  v.check((rules) => new Set(rules.map(({ rule }) => rule)).size === rules.length, 'each rule needs a name of its own'),
)
export type ViewRules = v.InferOutput<typeof ViewRules>
export type ViewRule = ViewRules[number]

export const ViewRuleList = exactly({ rules: ViewRules })

const MAX_HOURS = 24
export const TryViewRules = exactly({ rules: ViewRules, sale: SaleId, hours: whole(1, MAX_HOURS) })
export const Period = exactly({ from: instant, to: instant })

export const VIEW_KEYS = ['minute', 'page', 'source', 'country', 'device', 'language', 'network'] as const
export type ViewKey = (typeof VIEW_KEYS)[number]
export const ViewQuery = v.object({
  from: v.optional(instant),
  to: v.optional(instant),
  by: v.optional(v.picklist(VIEW_KEYS, `one of ${VIEW_KEYS.join(', ')} is required`), 'minute'),
})

interface Views {
  readonly counted: number
  readonly dropped: number
  /**
   * Different visitors of the days (UTC) of the period, about; a visitor of two days counts twice. Null while they are
   * not counted, and for a minute.
   */
  readonly uniques: number | null
}

export interface SaleViews extends Views {
  /** The pages that are being looked at, about one in a hundred off; null while that is not known. */
  readonly on_pages: number | null
  /** For how long a counted view was seen on average; null without one. */
  readonly mean_seconds: number | null
  readonly rows: readonly ({ readonly key: string } & Views)[]
  readonly by_rule: readonly { readonly rule: string; readonly dropped: number }[]
  readonly as_of: string
  /** The age of the oldest beacon that is not counted. */
  readonly behind_seconds: number
}

/** A view as an operator sees it. */
export interface SeenView {
  readonly at: string
  readonly sale: string | null
  readonly page: string
  readonly source: string
  readonly country: string | null
  readonly network: string
  readonly device: string
  readonly language: string | null
}

export type RuleState = ViewRule & {
  /** The views of the last 24 hours that it dropped. */
  readonly dropped: number
  /** The latest of them. */
  readonly examples: readonly SeenView[]
}

export interface TriedRules {
  readonly counted: number
  readonly dropped: number
  readonly by_rule: readonly { readonly rule: string; readonly dropped: number }[]
  /** The views that count by the rules in force and not by the given ones, by source. */
  readonly more_dropped: readonly { readonly key: string; readonly views: number }[]
}

export interface Recounted {
  readonly counted: number
  readonly dropped: number
  readonly before: { readonly counted: number; readonly dropped: number }
}
