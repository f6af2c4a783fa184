/**
 * The MAC in the link that ends mails. It stands in the mail alone: whoever else knows the id of an order does not speak for its
 * address.
 */
import type { SyncKey, TokenKeys } from '../../shared/keys.ts'

/** No token is signed with this text: theirs have two parts, with a dot between them. */
const textOf = (id: string) => `stop mails ${id}`

/** `id`: of an order or an ask. */
export const stopMac = ({ first }: TokenKeys<SyncKey>, id: string): string => first.sign(textOf(id))

export const isStopMac = ({ byHeader }: TokenKeys<SyncKey>, id: string, mac: string): boolean =>
  [...byHeader.values()].some((key) => key.verify(textOf(id), mac))
