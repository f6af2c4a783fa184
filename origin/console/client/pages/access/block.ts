/**
 * Blocks a visitor in all sales, and removes a block. Each action reports its result and offers the other one as its
 * undo.
 */
import { admin } from '../../api.ts'
import type { Done } from '../../toast.tsx'

type Block = Parameters<typeof admin.blocks.$post>[0]['json']

export async function block(added: Block, who: string): Promise<Done> {
  const { block: id } = await (await admin.blocks.$post({ json: added })).json()
  return { text: `${who} can join no sale.`, undo: () => unblock(id, added, who) }
}

export async function unblock(id: string, removed: Block, who: string): Promise<Done> {
  await admin.blocks[':block'].$delete({ param: { block: id } })
  return { text: `${who} can join again.`, undo: () => block(removed, who) }
}
