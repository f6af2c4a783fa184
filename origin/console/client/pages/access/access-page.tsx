/** The page about access to a sale: its rules in their order, and the blocks of all sales. */
import './access.css'
import { useQuery } from '@tanstack/preact-query'
import { admin, read } from '../../api.ts'
import { count } from '../../format.ts'
import { Failure, Loading, useTitle } from '../../parts.tsx'
import { Head } from '../../sheet/page.tsx'
import { Blocks } from './blocks.tsx'
import { Rules } from './rules.tsx'

/** The page is refreshed, because rules count the visitors that match them. */
const REFRESH_MS = 5_000

export function AccessPage({ sale }: { sale: string }) {
  const rules = useQuery({
    queryKey: ['rules', sale],
    queryFn: () => read(admin.sales[':sale'].rules.$get({ param: { sale } })),
    refetchInterval: REFRESH_MS,
  })
  const blocks = useQuery({
    queryKey: ['blocks'],
    queryFn: () => read(admin.blocks.$get()),
    refetchInterval: REFRESH_MS,
  })
  useTitle('Rules and blocks · Console')
  return (
    <>
      <Head
        title="Rules and blocks"
        sub={
          rules.data &&
          blocks.data &&
          `${count(rules.data.rules.length)} ${rules.data.rules.length === 1 ? 'rule' : 'rules'} of this sale, ` +
            `${count(blocks.data.blocks.length)} blocked in all sales`
        }
      />
      <Failure error={rules.error ?? blocks.error} />
      {rules.data && <Rules rules={rules.data.rules} sale={sale} />}
      {blocks.data && <Blocks blocks={blocks.data.blocks} />}
      {!rules.data && !rules.error && <Loading />}
    </>
  )
}
