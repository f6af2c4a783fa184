/** Column types of several tables. */
import { customType, timestamp } from 'drizzle-orm/pg-core'

export const instant = () => timestamp({ withTimezone: true, precision: 3 })

/** A transaction's id. Ids grow, and of those below the oldest transaction in progress no new row can appear. */
export const transaction = customType<{ data: string }>({ dataType: () => 'xid8' })

export const bytea = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' })
