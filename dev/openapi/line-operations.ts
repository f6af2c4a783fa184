/** Calls of everybody: the sale, the line, and messages about it. */

import * as v from 'valibot'
import { JoinRequest, LineId } from '../../shared/api/access.ts'
import { CfWaitingRoom } from '../../shared/api/cf-waiting-room.ts'
import { EndedPush, PushSubscription } from '../../shared/api/mails.ts'
import { QueueAnswer, Schedule } from '../../shared/api/public.ts'
import { ViewBeacon } from '../../shared/api/views/view-events.ts'
import { Challenge, Feed, Health, Keys, Posts, SaleWithGoods } from './answers.ts'
import type { Operations } from './document.ts'
import { AS_JSON, NOT_MODIFIED } from './parts.ts'

const IN_WAITING_ROOM = {
  ...{ inWaitingRoom: true, waitTimeKnown: true, waitTime: 4, waitTimeFormatted: '4 minutes' },
  ...{ waitTime25Percentile: 4, waitTime50Percentile: 4, waitTime75Percentile: 4 },
  ...{ queueIsFull: false, queueAll: false, lastUpdated: '2026-11-29T12:00:00.000Z', refreshIntervalSeconds: 20 },
  ...{ queueingMethod: 'fifo', isFIFOQueue: true, isRandomQueue: false, isPassthroughQueue: false },
  ...{ isRejectQueue: false, isEventActive: true, isEventPrequeueing: false, shuffleAtEventStart: true },
  ...{ timeUntilEventStart: 0, timeUntilEventStartFormatted: 'unavailable' },
  ...{ timeUntilEventEnd: 90, timeUntilEventEndFormatted: '1 hour 30 minutes', turnstile: '', infiniteQueue: false },
}
const TAG = 'Line'
const line = { schema: LineId, description: 'A line of the sale; the public one if it is left out.' }

const place = {
  status: 'waiting',
  line: 'public',
  number: 4012,
  position_in_queue: 2011,
  now_serving: 2001,
  estimated_wait_time: 1,
  poll_after_ms: 1200,
}

export const lineOperations: Operations = {
  '/sales/{sale}': {
    get: {
      id: 'getSale',
      tag: TAG,
      summary: 'The public data of a sale',
      description: 'The same for everybody, and kept by caches for a second or two.',
      headers: AS_JSON,
      answers: { 200: { description: 'The sale.', schema: SaleWithGoods }, ...NOT_MODIFIED },
      problems: ['unknown-sale', 'too-many-requests'],
    },
  },
  '/sales/{sale}/schedule': {
    get: {
      id: 'getSchedule',
      tag: TAG,
      summary: 'The groups that are called, and when',
      description:
        'With it and a number everybody calculates their own position without asking again: docs/draw.md says how. ' +
        'The next read is due after `next_read_ms`.',
      query: { line },
      answers: { 200: { description: 'The schedule.', schema: Schedule }, ...NOT_MODIFIED },
      problems: ['unknown-sale', 'not-found', 'too-many-requests'],
    },
  },
  '/sales/{sale}/queue': {
    post: {
      id: 'join',
      tag: TAG,
      summary: 'Join the line, or the lobby before the opening',
      description:
        'Joining again with the token, or from the same browser, returns the same number. A browser (one that sends ' +
        'Sec-Fetch-Site) has its tokens in HttpOnly cookies only; every other client has them in the answer.',
      callers: ['queue', 'shop'],
      anyone: true,
      body: {
        schema: JoinRequest,
        description: 'What the sale asks for; nothing for most sales.',
        optional: true,
        example: { source: { utm_source: 'newsletter' } },
      },
      answers: {
        200: { description: 'The place of before.', schema: QueueAnswer, example: place },
        201: {
          description: 'A new place.',
          schema: QueueAnswer,
          example: { ...place, queue_token: 'eyJhbGciOiJFZERTQSJ9.eyJudW0iOjQwMTJ9.c2lnbmF0dXJl' },
        },
      },
      problems: [
        ...(['invalid-fields', 'body-too-large', 'unsupported-media-type', 'unknown-sale', 'ended'] as const),
        ...(['sign-in-required', 'proof-required', 'invitation-required', 'refused', 'cookies-required'] as const),
        ...(['invalid-token', 'forbidden', 'too-many-orders', 'too-many-requests', 'request-timeout'] as const),
        'sold-out',
      ],
    },
    delete: {
      id: 'leave',
      tag: TAG,
      summary: 'Leave the line',
      description:
        'Whoever leaves the lobby keeps their lot; whoever leaves after the draw is out. Whoever is signed in at the ' +
        'shop needs no token of the place.',
      callers: ['queue', 'shop'],
      answers: { 204: { description: 'The place is given up.' } },
      problems: ['invalid-token', 'signed-out', 'unknown-sale', 'forbidden', 'too-many-requests'],
    },
  },
  '/sales/{sale}/cf-waiting-room': {
    get: {
      id: 'getCfWaitingRoom',
      tag: TAG,
      summary: 'The place in the fields of Cloudflare’s Waiting Room',
      description:
        'For clients that are written for it. Before another site a protected path answers the same to those who ' +
        'wait and ask with `Accept` exactly `application/json`.',
      callers: ['queue', 'shop'],
      answers: {
        200: { description: 'The place.', schema: CfWaitingRoom, example: { cfWaitingRoom: IN_WAITING_ROOM } },
      },
      problems: ['invalid-token', 'signed-out', 'refused', 'unknown-sale', 'too-many-orders', 'too-many-requests'],
    },
  },
  '/sales/{sale}/queue/status': {
    get: {
      id: 'getStatus',
      tag: TAG,
      summary: 'Where am I in the line?',
      description:
        'Ask again after `poll_after_ms`. The answer is `ready` from one’s turn on, with an admission token. ' +
        'Whoever is signed in at the shop needs no token of the place: the answer brings it.',
      callers: ['queue', 'shop'],
      answers: {
        200: {
          description: 'The place.',
          schema: QueueAnswer,
          example: {
            ...place,
            status: 'ready',
            position_in_queue: 0,
            now_serving: 4012,
            estimated_wait_time: 0,
            admission_token: 'eyJhbGciOiJFZERTQSJ9.eyJhdWQiOiJjaGVja291dCJ9.c2lnbmF0dXJl',
            admission_expires_at: '2026-11-29T12:03:00.000Z',
          },
        },
      },
      problems: ['invalid-token', 'signed-out', 'refused', 'unknown-sale', 'too-many-orders', 'too-many-requests'],
    },
  },
  '/sales/{sale}/challenge': {
    get: {
      id: 'getChallenge',
      tag: TAG,
      summary: 'A proof of work to solve before joining',
      description: 'A challenge of ALTCHA (altcha.org), whose solution is `altcha` of the join.',
      query: { line },
      callers: ['queue', 'shop'],
      anyone: true,
      answers: { 200: { description: 'The challenge.', schema: Challenge } },
      problems: ['not-found', 'unknown-sale', 'too-many-requests', 'cookies-required', 'signed-out', 'invalid-token'],
    },
  },
  '/sales/{sale}/push': {
    post: {
      id: 'requestPush',
      tag: 'Messages',
      summary: 'A push message about one’s turn, or about a restock',
      callers: ['queue'],
      anyone: true,
      body: { schema: PushSubscription, description: 'The subscription of the browser (W3C Push API).' },
      answers: { 204: { description: 'Messages are sent from now on.' } },
      problems: [
        ...(['invalid-fields', 'invalid-token', 'unknown-sale', 'forbidden', 'too-many-requests'] as const),
        ...(['body-too-large', 'unsupported-media-type', 'not-found', 'signed-out', 'conflict'] as const),
      ],
    },
    delete: {
      id: 'endPush',
      tag: 'Messages',
      summary: 'No more push messages',
      body: { schema: EndedPush, description: 'The endpoint of the subscription, which nobody else knows.' },
      answers: { 204: { description: 'No message is sent any more.' } },
      problems: [
        ...(['invalid-fields', 'unknown-sale', 'forbidden', 'too-many-requests', 'not-found'] as const),
        ...(['body-too-large', 'unsupported-media-type'] as const),
      ],
    },
  },
  '/sales/{sale}/feed': {
    get: {
      id: 'getFeed',
      tag: 'Messages',
      summary: 'The newest posts of the shop',
      query: {
        since: {
          schema: v.pipe(v.string(), v.regex(/^\d{1,9}$/)),
          description: 'The answer has the posts after this number. `older` names the page on which they go on.',
        },
      },
      answers: { 200: { description: 'The posts, the latest first.', schema: Feed }, ...NOT_MODIFIED },
      problems: ['invalid-fields', 'unknown-sale', 'too-many-requests'],
    },
  },
  '/sales/{sale}/feed/{page}': {
    get: {
      id: 'getFeedPage',
      tag: 'Messages',
      summary: 'A page of older posts',
      description: 'Page 1 has the oldest posts. A full page never changes, unless a post is taken away.',
      answers: { 200: { description: 'The posts, the latest first.', schema: Posts }, ...NOT_MODIFIED },
      problems: ['not-found', 'unknown-sale', 'too-many-requests'],
    },
  },
  '/sales/{sale}/views': { post: viewsOf('countView', 'A view of one of the sale’s pages') },
  '/views': { post: viewsOf('countFrontView', 'A view of the shop front') },
  '/.well-known/jwks.json': {
    get: {
      id: 'getAdmissionKeys',
      tag: 'Keys',
      summary: 'The public keys of admission tokens',
      answers: { 200: { description: 'A JWK set (RFC 7517); empty if the keys are symmetric.', schema: Keys } },
      problems: [],
    },
  },
  '/.well-known/handover-keys.json': {
    get: {
      id: 'getHandoverKeys',
      tag: 'Keys',
      summary: 'The public keys of orders that are handed over to the shop',
      answers: { 200: { description: 'A JWK set (RFC 7517).', schema: Keys } },
      problems: [],
    },
  },
  '/healthz': {
    get: {
      id: 'getHealth',
      tag: 'Keys',
      summary: 'Tells if this half runs',
      answers: { 200: { description: 'It does, with the id of the key that signs admissions.', schema: Health } },
      problems: [],
    },
  },
}

function viewsOf(id: string, summary: string) {
  return {
    id,
    tag: 'Views',
    summary,
    description:
      'A page sends it when it is first seen, and every 15 seconds while it is. Nothing is kept of a browser that ' +
      'sends Global Privacy Control or Do Not Track.',
    body: {
      schema: ViewBeacon,
      description: 'The view: one life of one page in one browser.',
      also: ['text/plain'],
      example: { view: 'V1StGXR8_Z5jdHi6B-myTA', page: 'line', seen_seconds: 15 },
    },
    answers: { 202: { description: 'Taken.' } },
    problems: [
      ...(['invalid-fields', 'unknown-sale', 'forbidden', 'too-many-requests'] as const),
      ...(['body-too-large', 'unsupported-media-type', 'request-timeout'] as const),
    ],
  } as const
}
