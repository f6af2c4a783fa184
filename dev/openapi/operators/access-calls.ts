/** Calls about who may join a sale, promo codes, pictures and views. */
import * as v from 'valibot'
import { type InvitationLinks, SignLinks, VoidLinks } from '../../../shared/api/access.ts'
import { PromoCode } from '../../../shared/api/goods.ts'
import type { Calls } from './calls.ts'
import { RecountedViews, TriedViewRules, ViewRules, Views } from './report-answers.ts'
import {
  Block,
  Blocks,
  CheckedPromoCodes,
  ImportedInvitations,
  Invitations,
  Picture,
  PromoCodes,
  Rule,
  Rules,
  VoidedLinks,
} from './sale-answers.ts'

const INVITATION_LINKS = v.union([SignLinks, VoidLinks]) satisfies v.GenericSchema<v.InferInput<typeof InvitationLinks>>
const PROMO_CODES = 'code,percent,amount_minor,uses,uses_per_visitor,from,until,products\nSUMMER,10,,500,1,,,\n'
const RULE = { when: { address: '192.0.2.0/24' }, action: 'prove', note: 'A hosting company.' }
const RULE_ANSWER = { rule: '7', met: 0, ...RULE }

export const accessCalls: Calls = {
  '/sales/{sale}/invitations': {
    get: {
      id: 'countInvitations',
      summary: 'How many invitations there are, and how many were used',
      answers: {
        200: {
          description: 'The counts.',
          schema: Invitations,
          example: { invitations: 200, uses: 300, used: 12 },
        },
      },
    },
    put: {
      id: 'importInvitations',
      summary: 'Import codes, all or none',
      description: 'The body is read as it arrives, and must arrive within 30 seconds.',
      parameters: {
        replace: { schema: v.picklist(['true']), description: 'Codes that are not in the list are dropped.' },
      },
      body: {
        description: 'A code a line, and how often it may be used.',
        files: {
          'text/csv': 'code,uses\nfriend-of-the-house,2\n',
          'application/x-ndjson': '{"code":"friend-of-the-house","uses":2}\n',
        },
      },
      answers: {
        200: {
          description: 'How many were imported, and how many there are.',
          schema: ImportedInvitations,
          example: { imported: 200, invitations: 200, uses: 300, used: 0 },
        },
      },
      problems: ['conflict'],
    },
  },
  '/sales/{sale}/invitations/links': {
    post: {
      id: 'signInvitations',
      summary: 'Make signed links, or void those that were made',
      body: {
        description: 'How many links, or the time before which links are void.',
        schema: INVITATION_LINKS,
        example: { count: 100, uses: 1 },
      },
      answers: {
        200: {
          description: 'A line `{ "invitation": ".." }` for each link; JSON for `void_before`.',
          schema: VoidedLinks,
          example: { void_before: '2026-11-27T12:00:00.000Z' },
          types: ['application/x-ndjson'],
        },
      },
    },
  },
  '/sales/{sale}/rules': {
    get: {
      id: 'listRules',
      summary: 'The rules of a sale, in their order',
      description: 'The first that matches a new visitor decides. `met` counts how often.',
      answers: { 200: { description: 'The rules.', schema: Rules, example: { rules: [RULE_ANSWER] } } },
    },
    post: {
      id: 'addRule',
      summary: 'Add a rule, after the others',
      body: { description: 'The rule.', example: RULE },
      answers: { 201: { description: 'The rule.', schema: Rule, example: RULE_ANSWER } },
      problems: ['conflict'],
    },
  },
  '/sales/{sale}/rules/{rule}': {
    patch: {
      id: 'changeRule',
      summary: 'Change a rule; what is left out stays',
      body: { description: 'The change.', example: { action: 'refuse' } },
      answers: { 200: { description: 'The rule.', schema: Rule } },
      problems: ['not-found'],
    },
    delete: {
      id: 'removeRule',
      summary: 'Remove a rule',
      answers: { 204: { description: 'It is gone.' } },
      problems: ['not-found'],
    },
  },
  '/blocks': {
    get: {
      id: 'listBlocks',
      summary: 'The visitors who are blocked from all sales',
      answers: { 200: { description: 'The blocks.', schema: Blocks } },
    },
    post: {
      id: 'block',
      summary: 'Block a visitor, an account, a network address, or the buyer of an order',
      description: 'Their unpaid orders are cancelled.',
      body: { description: 'One of the four.', example: { address: '192.0.2.7', note: 'Joins by the thousand.' } },
      answers: {
        201: {
          description: 'The block.',
          schema: Block,
          example: {
            block: '3',
            address: '192.0.2.7',
            note: 'Joins by the thousand.',
            blocked_at: '2026-11-27T12:00:00.000Z',
          },
        },
      },
      problems: ['unknown-order', 'conflict'],
    },
  },
  '/blocks/{block}': {
    delete: {
      id: 'unblock',
      summary: 'Remove a block',
      answers: { 204: { description: 'It is gone.' } },
      problems: ['not-found'],
    },
  },

  '/sales/{sale}/promo-codes': {
    get: {
      id: 'listPromoCodes',
      summary: 'The promo codes of a sale, with how often each is used',
      answers: {
        200: { description: 'The codes.', schema: PromoCodes, headers: { etag: 'The version, for If-Match.' } },
      },
    },
    put: {
      id: 'putPromoCodes',
      summary: 'Replace all promo codes of a sale, or none',
      isVersioned: true,
      body: {
        description: 'All codes.',
        schema: v.array(PromoCode),
        example: [{ code: 'SUMMER', percent: 10, uses: 500, uses_per_visitor: 1 }],
        files: { 'text/csv': PROMO_CODES },
      },
      answers: { 200: { description: 'The codes.', schema: PromoCodes } },
      problems: ['conflict'],
    },
  },
  '/sales/{sale}/promo-codes/check': {
    post: {
      id: 'checkPromoCodes',
      summary: 'What an import would understand; changes nothing',
      body: { description: 'All codes.', files: { 'text/csv': PROMO_CODES } },
      answers: { 200: { description: 'What is understood, and what is not.', schema: CheckedPromoCodes } },
      problems: ['conflict'],
    },
  },
  '/images': {
    post: {
      id: 'addPicture',
      summary: 'Upload a picture, or have it fetched',
      description: 'The file of a form, the bytes themselves, or the address of a picture elsewhere. At most 15 MB.',
      body: {
        description: 'The picture.',
        schema: v.strictObject({ url: v.string() }),
        example: { url: 'https://shop.example/poster.jpg' },
        files: { 'multipart/form-data': null, 'image/*': null, 'application/octet-stream': null },
      },
      answers: {
        201: {
          description: 'Where it is, in these widths, as WebP and as JPEG.',
          schema: Picture,
          example: {
            image: '/images/0123456789abcdef0123456789abcdef',
            url: '/images/0123456789abcdef0123456789abcdef/640.webp',
            widths: [320, 640],
            width: 1200,
            height: 800,
          },
        },
      },
    },
  },

  '/view-rules': {
    get: {
      id: 'listViewRules',
      summary: 'The rules by which views count, with what each drops',
      answers: { 200: { description: 'The rules, in their order.', schema: ViewRules } },
    },
    put: {
      id: 'putViewRules',
      summary: 'Replace the rules by which views count',
      body: { description: 'All rules.', example: { rules: [{ kind: 'min_seconds', seconds: 2 }, { kind: 'bots' }] } },
      answers: { 200: { description: 'The rules, in force within ten seconds.', schema: ViewRules } },
    },
  },
  '/view-rules/try': {
    post: {
      id: 'tryViewRules',
      summary: 'What rules would have counted in the last hours; changes nothing',
      body: { description: 'The rules.', example: { rules: [{ kind: 'bots' }], sale: 'drop', hours: 2 } },
      answers: {
        200: {
          description: 'The counts.',
          schema: TriedViewRules,
          example: { counted: 900, dropped: 40, by_rule: [{ rule: 'bots', dropped: 40 }], more_dropped: [] },
        },
      },
    },
  },
  '/sales/{sale}/views': {
    get: {
      id: 'getViews',
      summary: 'The views of a sale',
      query: { by: 'What the rows are by.' },
      answers: { 200: { description: 'The counts.', schema: Views } },
    },
  },
  '/sales/{sale}/views/recount': {
    post: {
      id: 'recountViews',
      summary: 'Count minutes of the last 23 hours again, by the rules in force',
      body: {
        description: 'Whole minutes.',
        example: { from: '2026-11-27T12:00:00Z', to: '2026-11-27T13:00:00Z' },
      },
      answers: {
        200: {
          description: 'The counts, and those before.',
          schema: RecountedViews,
          example: { counted: 900, dropped: 40, before: { counted: 940, dropped: 0 } },
        },
      },
    },
  },
  '/sales/{sale}/views/export': {
    get: {
      id: 'exportViews',
      summary: 'The counted views of the last day, without visitors',
      query: { after: 'The cursor of a line.' },
      answers: {
        200: {
          description: 'A line for each view, with its `cursor`; the last is `{ cursor, more }`.',
          types: ['application/x-ndjson'],
        },
      },
    },
  },
}
