/**
 * Reads a hall for the pages: its chart once for each version, and the state of its seats every two seconds while the
 * page is visible.
 */
import { useQuery } from '@tanstack/preact-query'
import { useMemo, useRef } from 'preact/hooks'
import { hallOf, unpackStates } from '../../../../../shared/hall/hall-model.ts'
import { ApiError } from '../../api.ts'
import { type HallState, readChart, readHall } from './hall-api.ts'

const REFRESH_MS = 2_000

/** A sale has no hall before its first section. */
function noHall(error: unknown): HallState {
  if (error instanceof ApiError && error.problem.status === 404)
    return { version: 0, sections: [], seats: '', blocks: [] }
  throw error
}

export function useHall(sale: string) {
  const { data: hall, error } = useQuery({
    queryKey: ['hall', sale],
    queryFn: () => readHall(sale).catch(noHall),
    refetchInterval: REFRESH_MS,
  })
  // A hall with any section has a chart, even if all are standing sections.
  const version = hall && hall.sections.length > 0 ? hall.version : null
  const { data: read, error: chartError } = useQuery({
    queryKey: ['chart', sale, version],
    queryFn: async () => {
      const chart = await readChart(sale)
      if (chart.version !== version) throw new Error('The chart is being imported.')
      return { chart, map: hallOf(chart) }
    },
    enabled: version !== null,
    // A version never changes and may have megabytes, so no action of an operator reads it again.
    staleTime: 'static',
    structuralSharing: false,
    refetchInterval: ({ state }) => (state.data ? false : REFRESH_MS),
  })
  const map = read?.map
  const bits = hall?.seats
  const states = useMemo(() => map && unpackStates(bits ?? '', map.seats.length), [map, bits])
  // While a new chart is read, the hall is shown as it was, so that what is chosen on it stays.
  const shown = useRef<{ readonly hall: HallState; readonly read: typeof read; readonly states: Uint8Array } | null>(
    null,
  )
  if (hall && read && states) shown.current = { hall, read, states }
  const before = read ? null : shown.current
  return {
    hall: before?.hall ?? hall,
    chart: (before?.read ?? read)?.chart,
    map: (before?.read ?? read)?.map,
    states: before?.states ?? states,
    error: error ?? chartError,
  }
}
