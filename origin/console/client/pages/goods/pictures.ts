/** Uploads pictures of goods to the origin, which stores them for the pages. */
import { send } from '../../api.ts'
import { shop } from '../../session.ts'

/** The origin makes several widths and formats of it before it responds. */
const TIMEOUT_MS = 120_000

async function post(body: Blob | string, type: string): Promise<string> {
  const init = { method: 'POST', headers: { 'content-type': type }, body }
  const { url }: { readonly url: string } = await (await send('/admin/images', init, TIMEOUT_MS)).json()
  return url
}

/** Both functions return the picture's address, and throw the reason if it is refused. */
export const uploadPicture = (file: File) => post(file, file.type || 'application/octet-stream')
export const fetchPicture = (address: string) => post(JSON.stringify({ url: address }), 'application/json')

/**
 * The address of a middle width, as visitors load it. A picture on another host is fetched when the sale is saved.
 */
export const shownAt = (url: string) => (url.startsWith('/') ? `${shop.value ?? ''}${url}` : url)
