/** The keys of a sale's gate in Redis, in the order in which the scripts take them. */
const KEYS = [
  'stock',
  'holds',
  'keys',
  'visitors',
  'unrecorded',
  'unpaid',
  'seats',
  'limited',
  'networks',
  'claims',
] as const
export type GateKeys = Readonly<Record<(typeof KEYS)[number], string>>

export function gateKeys(saleId: string): GateKeys {
  return {
    stock: `{${saleId}}:stock`,
    holds: `{${saleId}}:holds`,
    keys: `{${saleId}}:keys`,
    visitors: `{${saleId}}:visitors`,
    unrecorded: `{${saleId}}:unrecorded`,
    unpaid: `{${saleId}}:unpaid_orders`,
    seats: `{${saleId}}:seats`,
    limited: `{${saleId}}:limited`,
    networks: `{${saleId}}:networks`,
    claims: `{${saleId}}:claims`,
  }
}

export const keyList = (key: GateKeys) => KEYS.map((name) => key[name])
