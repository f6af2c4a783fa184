/** Stands around the pages of one sale, and says if there is no such sale. */
import { useQuery } from '@tanstack/preact-query'
import type { ComponentChildren } from 'preact'
import { Link } from 'wouter-preact'
import { ApiError } from '../api.ts'
import { useTitle } from '../parts.tsx'
import { Head } from '../sheet/page.tsx'
import { saleQuery } from './side.tsx'

export function SaleFrame({ sale, children }: { readonly sale: string; readonly children: ComponentChildren }) {
  const { error } = useQuery(saleQuery(sale))
  if (error instanceof ApiError && error.problem.status === 404) return <NoSale sale={sale} />
  return <>{children}</>
}

function NoSale({ sale }: { readonly sale: string }) {
  useTitle('No such sale · Console')
  return (
    <>
      <Head
        title={
          <>
            There is no sale <code>{sale}</code>
          </>
        }
      />
      <div class="empty">
        <Link class="btn" href="/console">
          See all sales
        </Link>
      </div>
    </>
  )
}
