/**
 * The MAC in the link that ends mails. Only the mail contains it, so knowing the id of an order is not enough to end
 * mails to its address.
 */
import type { SyncKey, TokenKeys } from '../../shared/keys.ts'

/** This text cannot be part of a token, because signed tokens have two parts with a dot between them. */
const textOf = (id: string) => `stop mails ${id}`

/** `id` is the id of an order or a request. */
export const stopMac = ({ first }: TokenKeys<SyncKey>, id: string): string => first.sign(textOf(id))

export const isStopMac = ({ byHeader }: TokenKeys<SyncKey>, id: string, mac: string): boolean =>
  [...byHeader.values()].some((key) => key.verify(textOf(id), mac))
