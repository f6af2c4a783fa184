/** Pictures of goods: sent to the origin, which keeps them for the pages. */
import { send } from '../../api.ts'
import { shop } from '../../session.ts'

/** The origin makes several widths and formats of it before it responds. */
const TIMEOUT_MS = 120_000

async function post(body: Blob | string, type: string): Promise<string> {
  const init = { method: 'POST', headers: { 'content-type': type }, body }
  const { url }: { readonly url: string } = await (await send('/admin/images', init, TIMEOUT_MS)).json()
  return url
}

/** Both return the picture's address, and throw why it is not taken. */
export const uploadPicture = (file: File) => post(file, file.type || 'application/octet-stream')
export const fetchPicture = (address: string) => post(JSON.stringify({ url: address }), 'application/json')

/** As visitors load it, in a middle width. One that is elsewhere is fetched when the sale is saved. */
export const shownAt = (url: string) => (url.startsWith('/') ? `${shop.value ?? ''}${url}` : url)
