/**
 * Decides who may join a sale, and in which line. The access settings of a sale, its rules and the blocks are stored
 * by the origin and sent to the edge with the sale's state; they can change while the sale runs. The edge enforces
 * them when visitors join.
 */
import * as v from 'valibot'
import { exactly, filled, ID, ID_FORM, instant, note, OrderId, Texts, whole } from './fields.ts'
import { Source } from './views/source.ts'

/** The line of a sale that has only one. */
export const PUBLIC_LINE = 'public'
const MAX_LINES = 10
/** The number of rules is limited, because each is checked for every new visitor. */
export const MAX_RULES = 100
/** The number of blocks is limited, because they are sent to the edge as one document. */
export const MAX_BLOCKS = 5_000
/** The maximum difficulty of a proof of work. */
export const MAX_DIFFICULTY = 10_000_000

export const LineId = v.pipe(v.string('text is required'), v.regex(ID, ID_FORM))

// -- Access ---------------------------------------------------------------------------------------------------------

/** The requirements that a visitor must meet before they get a place. */
export const Access = exactly({
  /** `required` means a session of the shop. One account has one place and one limit on all its devices. */
  sign_in: v.optional(v.picklist(['optional', 'required'], 'optional or required'), 'optional'),
  invitation: v.optional(v.picklist(['off', 'required'], 'off or required'), 'off'),
  /**
   * The difficulty: 100,000 take a phone about half a second. `auto` is half of that, and more for a network with a
   * large share of the joins; null takes the origin's setting.
   */
  proof_of_work: v.optional(
    v.nullable(
      v.union([v.picklist(['off', 'auto']), whole(1, MAX_DIFFICULTY)], `off, auto or a number up to ${MAX_DIFFICULTY}`),
    ),
    null,
  ),
  turnstile: v.optional(v.boolean('true or false'), false),
})
export type Access = v.InferOutput<typeof Access>

/** A separate queue with its own draw and numbers. The lines share the sale's rate by weight. */
export const Line = exactly({
  line: LineId,
  /**
   * The name for people, by language. Without a name, the public line is "for everyone", and another line shows its
   * id.
   */
  name: v.optional(v.nullable(Texts)),
  weight: v.optional(v.pipe(v.number('a number is required'), v.minValue(0.01), v.maxValue(1000)), 1),
  /** The turns of this line begin this much earlier than the sale's `opens_at`. */
  opens_early_seconds: v.optional(whole(0, 30 * 24 * 3600), 0),
  /** The requirements of this line instead of the sale's; null means the same. */
  access: v.optional(v.nullable(Access), null),
})
export type Line = v.InferOutput<typeof Line>

export const Lines = v.pipe(
  v.array(Line, 'a list is required'),
  v.minLength(1, 'at least one line'),
  v.maxLength(MAX_LINES, `at most ${MAX_LINES} lines`),
  v.check((list) => new Set(list.map(({ line }) => line)).size === list.length, 'line must be unique'),
)

export const ONE_LINE: readonly Line[] = [{ line: PUBLIC_LINE, weight: 1, opens_early_seconds: 0, access: null }]

/**
 * The name of a line's queue, under which its waiting room, its schedule in memory and its state at the origin are
 * found. For the public line it is the sale's own name.
 */
export const queueName = (sale: string, line: string) => (line === PUBLIC_LINE ? sale : `${sale}~${line}`)

/**
 * All queues of a sale. The sale's own queue always exists, because it knows the others; if no line is public, nobody
 * joins it.
 */
export const queueNamesOf = (sale: string, lines: readonly { readonly line: string }[]): string[] => [
  ...new Set([sale, ...lines.map(({ line }) => queueName(sale, line))]),
]

/** The sale and the line of a queue's name. */
export function saleAndLineOf(queue: string): { sale: string; line: string } {
  const [sale = '', line = PUBLIC_LINE] = queue.split('~')
  return { sale, line }
}

/** The prefix of an account's visitor name, which no visitor identified by a cookie can have. */
export const ACCOUNT_PREFIX = 'user:'

// -- Rules and blocks -----------------------------------------------------------------------------------------------

/** An address, or a range of them in CIDR notation (RFC 4632, RFC 4291). */
const NO_RANGE = 'an address or a range such as 192.0.2.0/24'
function isRange(text: string): boolean {
  const [address = '', bits = '0', ...more] = text.split('/')
  const most = v.IPV4_REGEX.test(address) ? 32 : v.IPV6_REGEX.test(address) ? 128 : -1
  return more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= most
}
const words = filled(200)

/** All conditions that are present must be met. */
const RuleWhen = exactly({
  address: v.optional(v.pipe(v.string(), v.check(isRange, NO_RANGE))),
  asn: v.optional(whole(1, 4_294_967_295)),
  /** The code is ISO 3166-1 alpha-2. */
  country: v.optional(v.pipe(v.string(), v.toUpperCase(), v.regex(/^[A-Z]{2}$/, 'a country such as DE'))),
  /** A part of the User-Agent header, ignoring case. */
  user_agent: v.optional(words),
  /** A claim of the shop's session that has this value. */
  claim: v.optional(exactly({ name: words, value: v.union([words, v.number(), v.boolean()]) })),
  line: v.optional(LineId),
})

/**
 * `prove` requires a proof of work first, whatever the sale requires. `last` gives a number at the end of the line,
 * even before the draw.
 */
const RULE_ACTIONS = ['allow', 'prove', 'last', 'refuse'] as const

const when = v.pipe(
  RuleWhen,
  v.check((one) => Object.values(one).some((value) => value !== undefined), 'at least one condition'),
)
const action = v.picklist(RULE_ACTIONS, `one of ${RULE_ACTIONS.join(', ')} is required`)

/** Rules are checked in order; the first that matches decides. */
export const RuleConfig = exactly({ when, action, note }, ['rule', 'met'])
export type RuleConfig = v.InferOutput<typeof RuleConfig>

export const RuleChange = exactly(
  { when: v.optional(when), action: v.optional(action), note: v.optional(note.wrapped) },
  ['rule', 'met'],
)

/** A block has exactly one of the four fields. */
export const BlockConfig = v.pipe(
  exactly(
    {
      visitor: v.optional(words),
      account: v.optional(words),
      address: v.optional(v.pipe(v.string(), v.check(isRange, NO_RANGE))),
      /** The order whose visitor or account is blocked. */
      order: v.optional(OrderId),
      note,
    },
    ['block'],
  ),
  v.check(
    ({ visitor, account, address, order }) =>
      [visitor, account, address, order].filter((one) => one !== undefined).length === 1,
    'exactly one of visitor, account, address and order',
  ),
)
export type BlockConfig = v.InferOutput<typeof BlockConfig>

// -- Invitations ----------------------------------------------------------------------------------------------------

export const InvitationCode = v.pipe(
  v.string('text is required'),
  v.regex(/^\S{4,100}$/, '4 to 100 characters without spaces'),
)
const uses = v.optional(whole(1, 1_000_000), 1)

export const InvitationRow = v.object({ code: InvitationCode, uses })

export const SignLinks = exactly({
  count: v.optional(whole(1, 1_000_000), 1),
  uses,
  valid_for_seconds: v.optional(whole(60, 366 * 24 * 3600), 30 * 24 * 3600),
})
export const VoidLinks = exactly({ void_before: instant })
/** Requests new links, or with `void_before` declares void the links that were signed earlier. */
export const InvitationLinks = v.lazy((sent) => ('void_before' in Object(sent) ? VoidLinks : SignLinks))

const invitation = v.pipe(
  v.string('text is required'),
  v.trim(),
  v.regex(/^\S{4,1000}$/, 'a code or the token of a link'),
)

/** The optional fields of a join. */
export const JoinRequest = v.strictObject(
  {
    line: v.optional(LineId),
    invitation: v.optional(invitation),
    /** Solutions of the challenges, as their widgets send them. */
    altcha: v.optional(v.pipe(v.string('text is required'), v.maxLength(8_192))),
    turnstile: v.optional(v.pipe(v.string('text is required'), v.maxLength(2_048))),
    /** Where the visitor came from. */
    source: v.optional(Source),
  },
  ({ expected }) => (expected === 'never' ? 'there is no such field' : 'an object is required'),
)
export type JoinRequest = v.InferOutput<typeof JoinRequest>

/** The edge's request to admit a visitor. */
export const RedeemRequest = v.object({
  visitor: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  invitation,
})

// -- What the edge enforces -----------------------------------------------------------------------------------------

/**
 * All data by which the edge decides who joins a sale. They are sent with the state if the caller does not have their
 * version.
 */
export const Policy = v.object({
  /** The version changes whenever any other field of the policy changes. */
  version: v.string(),
  lines: v.array(
    v.object({
      line: v.string(),
      name: v.optional(v.nullable(v.record(v.string(), v.string()))),
      opens_early_seconds: v.number(),
      access: v.object({
        sign_in: v.picklist(['optional', 'required']),
        invitation: v.picklist(['off', 'required']),
        proof_of_work: v.union([v.picklist(['off', 'auto']), v.number()]),
        turnstile: v.boolean(),
      }),
    }),
  ),
  rules: v.array(v.object({ rule: v.string(), when: RuleWhen, action: v.picklist(RULE_ACTIONS) })),
  blocks: v.array(
    v.object({ visitor: v.optional(v.string()), account: v.optional(v.string()), address: v.optional(v.string()) }),
  ),
})
export type Policy = v.InferOutput<typeof Policy>
export type LineAccess = Policy['lines'][number]['access']
