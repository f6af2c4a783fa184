/** Reads the promo codes of a sale, and changes one of them in the current list, or all of them. */
import type { PromoCode, PromoCodesCheck } from '../../../../../shared/api/goods.ts'
import { ApiError, send } from '../../api.ts'
import { aboutOne, isSameCode, type ListedCode, sentOf, withCode } from './codes.ts'

const pathOf = (sale: string) => `/admin/sales/${encodeURIComponent(sale)}/promo-codes`

/** The codes with the ETag of the list. */
export interface CodeList {
  readonly codes: readonly ListedCode[]
  readonly version: string
}

const listIn = async (response: Response): Promise<CodeList> => ({
  codes: (await response.json()).codes,
  version: response.headers.get('etag') ?? '',
})
export const readCodes = async (sale: string) => listIn(await send(pathOf(sale)))

/** Replaces the whole list if it still has this version, or changes nothing. */
export const putCodes = async (sale: string, body: BodyInit, type: string, version: string) =>
  listIn(await send(pathOf(sale), { method: 'PUT', headers: { 'content-type': type, 'if-match': version }, body }))

/** Says what an import of this CSV would understand. */
export async function checkCodes(sale: string, csv: string): Promise<PromoCodesCheck> {
  const init = { method: 'POST', headers: { 'content-type': 'text/csv' }, body: csv }
  return (await send(`${pathOf(sale)}/check`, init)).json()
}

/** The number of attempts. One fails only if somebody else changed the list successfully. */
const TRIES = 20

/**
 * Changes one code in the current list, even if others change other codes meanwhile. `seen` is the code as the
 * operator saw it.
 */
export async function changeCode(sale: string, code: PromoCode, seen: PromoCode | undefined, isRemoved = false) {
  for (let tries = 1; ; tries++) {
    const { codes, version } = await readCodes(sale)
    const found = codes.find((one) => one.code === code.code)
    if (!seen && found) throw new Error(`There is a code ${code.code} already.`)
    if (!isSameCode(seen, found))
      throw new Error(`Somebody has changed ${code.code} meanwhile. Load the page again to see it as it is.`)
    const others = sentOf(codes).filter((one) => one.code !== code.code)
    const changed = isRemoved ? others : withCode(sentOf(codes), code)
    try {
      await putCodes(sale, JSON.stringify({ codes: changed }), 'application/json', version)
      return
    } catch (error) {
      const isOvertaken = error instanceof ApiError && error.problem.status === 412
      if (isOvertaken && tries < TRIES) continue
      throw error instanceof ApiError ? new ApiError(aboutOne(error.problem)) : error
    }
  }
}
