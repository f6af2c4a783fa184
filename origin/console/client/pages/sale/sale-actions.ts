/** The operator's actions on a running sale. Each reports its result and how to undo it. */
import type { AnnouncementRequest } from '../../../../../shared/api/operators/requests.ts'
import { admin } from '../../api.ts'
import { count } from '../../format.ts'
import { soldBy } from '../../sold-by.ts'
import type { Done } from '../../toast.tsx'
import type { Live } from './live-stream.ts'

export type State = Live['state']
type Reason = State['pause_reason']

const call = admin.sales[':sale']
const paramOf = ({ sale }: State) => ({ param: { sale } })

export async function open(state: State): Promise<Done> {
  await call.open.$post(paramOf(state))
  return { text: `${state.name} is open.` }
}

export async function pause(state: State, reason: Reason): Promise<Done> {
  await call.pause.$post({
    ...paramOf(state),
    json: reason === null ? {} : { reason: reason as AnnouncementRequest['text'] },
  })
  return { text: `${state.name} is paused. Everybody keeps their place.`, undo: () => resume(state, reason) }
}

/** `reason` is the reason of the pause that ends. */
export async function resume(state: State, reason: Reason): Promise<Done> {
  await call.resume.$post(paramOf(state))
  return { text: `${state.name} goes on.`, undo: () => pause(state, reason) }
}

export async function end(state: State): Promise<Done> {
  await call.end.$post(paramOf(state))
  return { text: `${state.name} has ended.` }
}

export async function setRate(state: State, rate: number, before: number): Promise<Done> {
  await call.admission.$patch({ ...paramOf(state), json: { rate_per_second: rate } })
  const text = `${count(rate)} people a second are called now, instead of ${count(before)}.`
  return { text, undo: () => setRate(state, before, rate) }
}

export async function restock(state: State, product: string, quantity: number): Promise<Done> {
  await call.products[':product'].restock.$post({ param: { sale: state.sale, product }, json: { quantity } })
  const name = soldBy(state.products).find(({ product_id }) => product_id === product)?.name ?? product
  return {
    text:
      `${count(quantity)} more ${quantity === 1 ? 'unit' : 'units'} of ${name} ` +
      `${quantity === 1 ? 'is' : 'are'} for sale.`,
  }
}
