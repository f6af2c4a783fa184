/**
 * A visitor's place in the fields of Cloudflare's Waiting Room, for clients that are written for it. Times are whole
 * minutes; a time that is not known is `unavailable` in words.
 * Source: developers.cloudflare.com/waiting-room/reference/waiting-room-json-response
 */
import * as v from 'valibot'

export const CfWaitingRoom = v.object({
  cfWaitingRoom: v.object({
    inWaitingRoom: v.boolean(),
    waitTimeKnown: v.boolean(),
    waitTime: v.number(),
    waitTime25Percentile: v.number(),
    waitTime50Percentile: v.number(),
    waitTime75Percentile: v.number(),
    waitTimeFormatted: v.string(),
    queueIsFull: v.boolean(),
    queueAll: v.boolean(),
    lastUpdated: v.string(),
    refreshIntervalSeconds: v.number(),
    queueingMethod: v.picklist(['fifo', 'random', 'reject']),
    isFIFOQueue: v.boolean(),
    isRandomQueue: v.boolean(),
    isPassthroughQueue: v.boolean(),
    isRejectQueue: v.boolean(),
    isEventActive: v.boolean(),
    isEventPrequeueing: v.boolean(),
    timeUntilEventStart: v.number(),
    timeUntilEventStartFormatted: v.string(),
    timeUntilEventEnd: v.number(),
    timeUntilEventEndFormatted: v.string(),
    shuffleAtEventStart: v.boolean(),
    turnstile: v.string(),
    infiniteQueue: v.boolean(),
  }),
})
export type CfWaitingRoom = v.InferOutput<typeof CfWaitingRoom>
