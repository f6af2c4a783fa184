'use client'
/** The products of a sale with what is left, which this page's script reads from the edge (`CORS_ORIGINS`). */
import type { PublicSale } from '@flash-sale/client'
import { useEffect, useState } from 'react'
import { money } from './money.ts'

const AGAIN_AFTER_MS = 5_000

interface Schedule extends Pick<PublicSale, 'products'> {
  readonly next_read_ms: number
}

export function Products({ products, schedule }: Pick<PublicSale, 'products'> & { readonly schedule: string }) {
  const [left, setLeft] = useState<Readonly<Record<string, number>>>({})
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>
    const read = async () => {
      const now: Schedule | null = await fetch(schedule)
        .then((response) => response.json())
        .catch(() => null)
      if (now) setLeft(Object.fromEntries(now.products.map(({ product_id, available }) => [product_id, available])))
      timer = setTimeout(read, now?.next_read_ms ?? AGAIN_AFTER_MS)
    }
    void read()
    return () => clearTimeout(timer)
  }, [schedule])
  return (
    <ul>
      {products.map(({ product_id, name, unit_price_minor, currency }) => (
        <li key={product_id}>
          {name}, {money(unit_price_minor, currency)}
          {product_id in left && `, ${left[product_id]} left`}
        </li>
      ))}
    </ul>
  )
}
