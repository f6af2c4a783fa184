/** The live page of one sale: what needs you, how it goes, and why. Each control stands beside what it changes. */
import './sale.css'
import { Failure, Loading, useTitle } from '../../parts.tsx'
import { Columns } from '../../sheet/page.tsx'
import type { NoticeControl } from './controls.tsx'
import { Funnel } from './funnel.tsx'
import { LiveFigures } from './live-figures.tsx'
import { LiveHead, LiveVerdict } from './live-head.tsx'
import { useLive } from './live-stream.ts'
import { SecondsChart, useSeconds } from './seconds-chart.tsx'
import { Notices, Payments, WhatWasDone } from './sides.tsx'
import { Stock } from './stock.tsx'

interface SaleProps {
  readonly sale: string
  /** What features offer to change what visitors read. */
  readonly notices: readonly NoticeControl[]
}

const MARKS = { bad: '◆ ', watch: '▲ ', good: '' } as const

export function SalePage({ sale, notices }: SaleProps) {
  const { seen, error } = useLive(sale)
  const followed = useSeconds(sale, seen?.live.read_at)
  useTitle(seen ? `${MARKS[seen.live.summary.level]}${seen.live.state.name} · Console` : 'Console')
  if (seen === null) return error ? <Failure error={error} /> : <Loading />
  const { live, ageMs, nowMs } = seen
  return (
    <>
      <LiveHead live={live} ageMs={ageMs} nowMs={nowMs} notices={notices} />
      <LiveVerdict live={live} nowMs={nowMs} />
      <LiveFigures live={live} seconds={followed.seconds} />
      <SecondsChart live={live} followed={followed} />
      <Columns split="minmax(0, 7fr) minmax(0, 5fr)">
        <Funnel live={live} />
        <Stock live={live} />
      </Columns>
      <Columns>
        <Payments live={live} />
        <Notices live={live} controls={notices} />
        <WhatWasDone sale={sale} />
      </Columns>
    </>
  )
}
