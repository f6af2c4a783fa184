/** Blocks somebody in all sales, and takes a block back: each says what it has made true, and undoes the other. */
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
