/** Who may join a sale: its rules, in their order, and who is blocked in all sales. */
import './access.css'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { BlockState, Rule } from '../../../../../shared/api/operator.ts'
import { get } from '../../api.ts'
import { Failure, useRepeated } from '../../parts.tsx'
import { SaleTabs } from '../../sale-tabs.tsx'
import { Blocks } from './blocks.tsx'
import { Rules } from './rules.tsx'

/** Rules count whom they met. */
const REFRESH_MS = 5_000

export function AccessPage({ sale }: { sale: string }) {
  const path = `/admin/sales/${encodeURIComponent(sale)}/rules`
  const changes = useSignal(0)
  const rules = useRepeated(() => get<{ rules: readonly Rule[] }>(path), REFRESH_MS, `${sale} ${changes.value}`)
  const blocks = useRepeated(
    () => get<{ blocks: readonly BlockState[] }>('/admin/blocks'),
    REFRESH_MS,
    `blocks ${changes.value}`,
  )
  useEffect(() => {
    document.title = 'Rules and blocks · Console'
  }, [])
  const changed = () => {
    changes.value++
  }
  return (
    <>
      <SaleTabs sale={sale} />
      <h1>Rules and blocks</h1>
      <Failure error={rules.error ?? blocks.error} />
      {rules.value && <Rules rules={rules.value.rules} path={path} changed={changed} />}
      {blocks.value && <Blocks blocks={blocks.value.blocks} changed={changed} />}
      {!rules.value && !rules.error && <p class="loading">Loading …</p>}
    </>
  )
}
