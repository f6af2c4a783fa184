/** The console's icons, lines on a grid of 16 by 16 in the colour of the text beside them, and keys. */
import type { ComponentChildren } from 'preact'

const PATHS = {
  again: 'M13.5 8a5.5 5.5 0 1 1-1.7-4M13.5 1.5V4.5h-3',
  audit: 'M5.5 3.5h9M5.5 8h9M5.5 12.5h9M1.8 3.5h0.01M1.8 8h0.01M1.8 12.5h0.01',
  away: 'M1.5 6a9.5 9.5 0 0 1 13 0M4 9a6 6 0 0 1 8 0M8 12.5h0.01M2.5 14l11-12',
  bad: 'M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3L1.5 10.7V5.3zM8 4.8v4M8 11.2h0.01',
  ban: 'M1.5 8a6.5 6.5 0 1 0 13 0a6.5 6.5 0 1 0-13 0zM3.5 3.5l9 9',
  bank: 'M2 6.5 8 2.5l6 4zM3.5 7v5M6.5 7v5M9.5 7v5M12.5 7v5M2 13.5h12',
  bin: 'M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l0.7 9h6.6l0.7-9',
  box: 'M8 1.5 14 4.5v7l-6 3-6-3v-7zM2 4.5l6 3 6-3M8 7.5v7',
  card: 'M1.5 3h13v10h-13zM1.5 6.5h13M4 10h3',
  check: 'm3 8.5 3.5 3.5L13 4.5',
  clock: 'M1.5 8a6.5 6.5 0 1 0 13 0a6.5 6.5 0 1 0-13 0zM8 4.5V8l2.5 1.5',
  code: 'M1.5 4h13v2.5a1.5 1.5 0 0 0 0 3V12h-13V9.5a1.5 1.5 0 0 0 0-3zM9.5 6v4',
  copy: 'M5.5 5.5h8.5v8.5h-8.5zM10.5 2.5v-0.5h-8.5v8.5h0.5',
  dark: 'M1.5 8a6.5 6.5 0 1 0 13 0a6.5 6.5 0 1 0-13 0zM8 1.5a6.5 6.5 0 0 1 0 13z',
  down: 'm4 6 4 4 4-4',
  edit: 'M10.5 2.5 13.5 5.5 5.5 13.5H2.5v-3z',
  ext: 'M6 3H3v10h10v-3M9 2.5h4.5V7M13.5 2.5 7.5 8.5',
  eye: 'M1 8s2.5-5 7-5 7 5 7 5-2.5 5-7 5-7-5-7-5zM6 8a2 2 0 1 0 4 0a2 2 0 1 0-4 0z',
  fill: 'M8 2v9M4.5 7.5 8 11l3.5-3.5M3 14h10',
  flag: 'M3 14.5v-13M3 2.5h9l-2 3 2 3H3',
  grip: 'M6 3.5h0.01M10 3.5h0.01M6 8h0.01M10 8h0.01M6 12.5h0.01M10 12.5h0.01',
  hall: 'M2 12.5c0-5 2.5-8.5 6-8.5s6 3.5 6 8.5M5 12.5C5 9.5 6.3 8 8 8s3 1.5 3 4.5',
  hooks: 'M6.5 10 4.3 12.2a2.4 2.4 0 0 1-3.3-3.4L3.5 6.3M10.5 6l2.2-2.2a2.4 2.4 0 0 1 3.3 3.4L13.5 9.7M6 10.5l5-5',
  horn: 'M2 6.5v3l8 3.5V3zM10 6h1.5a2 2 0 0 1 0 4H10M4 10.5l0.8 3h2',
  in: 'M8 10.5V2M4.5 5.5 8 2l3.5 3.5M2.5 13.5h11',
  key: 'M2 11a3 3 0 1 0 6 0a3 3 0 1 0-6 0zM7.2 8.8l6.3-6.3M11 5l2 2',
  live: 'M1.5 8.5h3l2-6 3 11 2-5h3',
  lock: 'M3.5 7h9v6.5h-9zM5.5 7V5a2.5 2.5 0 0 1 5 0v2',
  mail: 'M1.5 3h13v10h-13zM2 4.5l6 4.5 6-4.5',
  menu: 'M2 4h12M2 8h12M2 12h12',
  minus: 'M3 8h10',
  more: 'M3 8h0.01M8 8h0.01M13 8h0.01',
  note: 'M2.5 2.5h11v8l-3 3h-8zM10.5 13.5v-3h3M5 5.5h6M5 8.5h3',
  orders: 'M3 1.5h10v13l-2-1.3-1.5 1.3L8 13.2l-1.5 1.3L5 13.2 3 14.5zM5.5 5h5M5.5 8h5',
  out: 'M6 2.5H3v11h3M7 8h7M11 5l3 3-3 3',
  pause: 'M5 3v10M11 3v10',
  people: 'M5 5a3 3 0 1 0 6 0a3 3 0 1 0-6 0zM2.5 14.5c0.5-3 2.5-4.5 5.5-4.5s5 1.5 5.5 4.5',
  pin: 'm9.5 1.5 5 5-3 .7-2.3 2.3-.7 3.5-5.5-5.5 3.5-.7L8.8 4.5zM5.5 10.5l-4 4',
  play: 'M4.5 2.5v11l9-5.5z',
  plus: 'M8 3v10M3 8h10',
  print: 'M4.5 6V1.5h7V6M4.5 11.5h-3V6h13v5.5h-3M4.5 9.5h7v5h-7z',
  queues: 'm8 1.5 6.5 3L8 7.5l-6.5-3zM1.5 8 8 11l6.5-3M1.5 11.5l6.5 3 6.5-3',
  rate: 'M2.3 12.5a6.5 6.5 0 1 1 11.4 0M8 9.5l3-4',
  report: 'M2 14.5h12M4 12V8M8 12V2.5M12 12V5.5',
  rules: 'M8 1.5 2.5 3.5v4.5c0 3 2.3 5.3 5.5 6.5 3.2-1.2 5.5-3.5 5.5-6.5V3.5zM5.5 8l1.8 1.8L10.8 6.3',
  sales: 'M2 7.2V2.8c0-.4.4-.8.8-.8h4.4l6.4 6.4a1 1 0 0 1 0 1.4l-3.8 3.8a1 1 0 0 1-1.4 0zM5 5h.01',
  save: 'M8 2v8.5M4.5 7 8 10.5 11.5 7M2.5 13.5h11',
  search: 'M2.5 7a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0zM10.5 10.5l4 4',
  test: 'M6 1.5v5L2 13a1 1 0 0 0 0.9 1.5h10.2A1 1 0 0 0 14 13l-4-6.5v-5M4.5 1.5h7M4 10h8',
  truck:
    'M1.5 3.5h8v7.5h-8zM9.5 6.5h3l2 2.5v2h-5' +
    'M3 12a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0M10 12a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0',
  undo: 'M5.5 2.5 2 6l3.5 3.5M2.5 6H10a3.5 3.5 0 0 1 0 7H6.5',
  visitors:
    'M3.5 5a2.5 2.5 0 1 0 5 0 2.5 2.5 0 1 0-5 0M1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4' +
    'M10.5 2.8a2.5 2.5 0 0 1 0 4.4M12 9.8c1.5.5 2.5 1.8 2.5 3.7',
  warn: 'M8 2 15 14H1zM8 6.5v3M8 11.8h0.01',
  x: 'm3.5 3.5 9 9M12.5 3.5l-9 9',
} as const

export type IconName = keyof typeof PATHS

/** The lines of these are points or bars. */
const BOLD: Partial<Record<IconName, number>> = { more: 2.5, pause: 2.5, grip: 2 }

/** An icon for the eye only: a button with nothing else needs an `aria-label`. `flip` mirrors it from right to left. */
export const Icon = ({ name, flip }: { readonly name: IconName; readonly flip?: boolean }) => (
  <svg class={flip ? 'i flip' : 'i'} viewBox="0 0 16 16" aria-hidden="true">
    <path d={PATHS[name]} stroke-width={BOLD[name]} fill={name === 'play' ? 'currentColor' : undefined} />
  </svg>
)

/** A hint of the keys that do what it stands in. Screen readers learn them from `aria-keyshortcuts`. */
export const Keys = ({
  class: more = '',
  children,
}: {
  readonly class?: string
  readonly children: ComponentChildren
}) => (
  <span class={`kbd ${more}`} aria-hidden="true">
    {children}
  </span>
)
