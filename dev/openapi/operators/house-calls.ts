/** Calls about the house: operators, audit, findings, alerts, search, queues of jobs, and webhooks. */
import { Synonyms } from '../../../shared/api/front.ts'
import type { Calls } from './calls.ts'
import {
  Alerts,
  Audit,
  DeadJobs,
  Deliveries,
  Failing,
  Findings,
  OperatorKey,
  Operators,
  Queues,
  Replayed,
  Retried,
  RetriedJob,
  TestedAlerts,
  TriedNow,
  Webhook,
  WebhookHistory,
  Webhooks,
} from './house-answers.ts'
import { Rehearsals, SearchMisses } from './report-answers.ts'

export const houseCalls: Calls = {
  '/operators': {
    get: {
      id: 'listOperators',
      summary: 'The operators',
      answers: { 200: { description: 'The operators.', schema: Operators } },
    },
    post: {
      id: 'addOperator',
      summary: 'Add an operator, or give one a new key',
      body: { description: 'The operator.', example: { name: 'ada', role: 'operator' } },
      answers: {
        201: {
          description: 'The operator, with the key, which no other answer has.',
          schema: OperatorKey,
          example: { name: 'ada', role: 'operator', key: '..' },
        },
      },
      problems: ['conflict'],
    },
  },
  '/operators/{name}': {
    delete: {
      id: 'revokeOperator',
      summary: 'Revoke an operator’s key, and end all sessions',
      answers: { 204: { description: 'Done.' } },
      problems: ['not-found'],
    },
  },
  '/audit': {
    get: {
      id: 'getAudit',
      summary: 'The acts of operators, and their readings of buyers’ data',
      query: { operator: 'The operator who acted.', action: 'The action that was done.' },
      answers: {
        200: {
          description: 'The entries, the newest first; CSV and NDJSON have all.',
          schema: Audit,
          types: ['text/csv', 'application/x-ndjson'],
        },
      },
    },
  },
  '/findings': {
    get: {
      id: 'listFindings',
      summary: 'What is not as it should be: without a sale, and of all sales',
      answers: { 200: { description: 'The findings, the open ones first.', schema: Findings } },
    },
  },
  '/alerts': {
    get: {
      id: 'getAlerts',
      summary: 'Whom findings reach',
      answers: { 200: { description: 'The channels.', schema: Alerts } },
    },
    put: {
      id: 'putAlerts',
      summary: 'Set from which severity a channel hears of findings',
      body: { description: 'What is left out stays.', example: { mail: 'warn', pagerduty: 'page' } },
      answers: { 200: { description: 'The channels.', schema: Alerts } },
    },
  },
  '/alerts/test': {
    post: {
      id: 'testAlerts',
      summary: 'Send a test by each channel',
      answers: {
        200: {
          description: 'Which channels took it.',
          schema: TestedAlerts,
          example: { sent: [{ channel: 'mail', error: null }] },
        },
      },
    },
  },
  '/rehearsals': {
    get: {
      id: 'listRehearsals',
      summary: 'What this installation has carried in rehearsals',
      answers: {
        200: {
          description: 'The latest first.',
          schema: Rehearsals,
          example: {
            rehearsals: [
              {
                sale: 'rehearsal-1',
                at: '2026-11-20T12:00:00.000Z',
                visitors: 50_000,
                arrived_per_second: 900,
                sold: 1000,
              },
            ],
          },
        },
      },
    },
  },
  '/search/synonyms': {
    get: {
      id: 'listSynonyms',
      summary: 'Words with the same meaning, for the search',
      answers: {
        200: {
          description: 'The lists.',
          schema: Synonyms,
          example: [['home', 'house']],
          headers: { etag: 'The version, for If-Match.' },
        },
      },
    },
    put: {
      id: 'putSynonyms',
      summary: 'Replace the synonyms of the search',
      isVersioned: true,
      body: { description: 'All lists.', schema: Synonyms, example: [['home', 'house']] },
      answers: { 200: { description: 'The lists.', schema: Synonyms, example: [['home', 'house']] } },
    },
  },
  '/search/misses': {
    get: {
      id: 'listSearchMisses',
      summary: 'What was searched for and not found',
      query: { from: 'Since this time; the last seven days if left out.' },
      answers: {
        200: {
          description: 'The most frequent first.',
          schema: SearchMisses,
          example: { misses: [{ query: 'cassette', searches: 12, callers: 5, last_day: '2026-11-26' }] },
        },
      },
    },
  },

  '/queues': {
    get: {
      id: 'listQueues',
      summary: 'The queues of jobs, with their throughput and history',
      query: { minutes: 'The length of the history.' },
      answers: { 200: { description: 'The queues.', schema: Queues } },
    },
  },
  '/queues/{queue}/failing': {
    get: {
      id: 'listFailing',
      summary: 'What fails, by kind and reason',
      answers: { 200: { description: 'The reasons.', schema: Failing } },
      problems: ['not-found'],
    },
  },
  '/queues/{queue}/retry': {
    post: {
      id: 'retryFailed',
      summary: 'Try dead jobs of a kind, a reason and a time again',
      body: { description: 'Which; all if left out.', optional: true, example: { kind: 'order.confirmed' } },
      answers: {
        202: {
          description: 'How many, and whether some are left.',
          schema: Retried,
          example: { queue: 'webhook', retried: 12, more: false },
        },
      },
      problems: ['not-found'],
    },
  },
  '/queues/{queue}/dead': {
    get: {
      id: 'listDead',
      summary: 'Single dead jobs',
      answers: { 200: { description: 'The jobs.', schema: DeadJobs } },
      problems: ['not-found'],
    },
  },
  '/queues/{queue}/dead/{job}/retry': {
    post: {
      id: 'retryDead',
      summary: 'Try a dead job again',
      answers: { 202: { description: 'The job.', schema: RetriedJob, example: { queue: 'webhook', job: '17' } } },
      problems: ['not-found'],
    },
  },
}

const endpoint = (description: string) => ({ description, schema: Webhook })
export const webhookCalls: Calls = {
  '/webhooks': {
    get: {
      id: 'listWebhooks',
      summary: 'The endpoints, with what waits for each',
      answers: { 200: { description: 'The endpoints; secrets are masked.', schema: Webhooks } },
    },
    post: {
      id: 'addWebhook',
      summary: 'Add an endpoint, for what happens from then on',
      body: {
        description: 'The endpoint.',
        example: { url: 'https://shop.example/hooks', events: ['order.confirmed'] },
      },
      answers: { 201: endpoint('The endpoint, with its secret, this once.') },
    },
  },
  '/webhooks/{endpoint}': {
    get: {
      id: 'getWebhook',
      summary: 'An endpoint',
      answers: { 200: endpoint('The endpoint.') },
      problems: ['not-found'],
    },
    patch: {
      id: 'changeWebhook',
      summary: 'Change an endpoint, pause it, or rotate its secret',
      description: 'After a rotation both secrets sign for a day.',
      body: { description: 'What is left out stays.', example: { state: 'paused' } },
      answers: { 200: endpoint('The endpoint.') },
      problems: ['not-found'],
    },
    delete: {
      id: 'removeWebhook',
      summary: 'Forget an endpoint and its deliveries',
      answers: { 204: { description: 'It is gone.' } },
      problems: ['not-found'],
    },
  },
  '/webhooks/{endpoint}/deliveries': {
    get: {
      id: 'listDeliveries',
      summary: 'The messages to an endpoint',
      query: { state: 'In this state only.', after: 'Older than this delivery.' },
      answers: { 200: { description: 'The deliveries, the newest first.', schema: Deliveries } },
      problems: ['not-found'],
    },
  },
  '/webhooks/{endpoint}/history': {
    get: {
      id: 'getWebhookHistory',
      summary: 'The last quarter of an hour of an endpoint',
      answers: { 200: { description: 'By five seconds.', schema: WebhookHistory } },
      problems: ['not-found'],
    },
  },
  '/webhooks/{endpoint}/replay': {
    post: {
      id: 'replay',
      summary: 'Send messages again, with the same ids, in order',
      body: { description: 'Which messages.', example: { from: '2026-11-27T12:00:00Z', to: '2026-11-27T13:00:00Z' } },
      answers: { 202: { description: 'How many.', schema: Replayed, example: { replayed: 40 } } },
      problems: ['not-found'],
    },
  },
  '/webhooks/{endpoint}/try': {
    post: {
      id: 'tryWebhook',
      summary: 'Try what failed at once',
      answers: { 202: { description: 'How many.', schema: TriedNow, example: { tried: 3 } } },
      problems: ['not-found', 'conflict'],
    },
  },
  '/webhooks/{endpoint}/test': {
    post: {
      id: 'testWebhook',
      summary: 'Send a message `webhook.test`',
      answers: { 202: { description: 'It is about to be sent.' } },
      problems: ['not-found', 'conflict'],
    },
  },
}
