/**
 * What a page is made of. A page is one sheet: a head that stays in sight, then sections parted by hairlines.
 *
 *     <Head title="Webhooks" sub="2 endpoints">
 *       <button type="button" class="btn primary">New endpoint</button>
 *     </Head>
 *     <Verdict level="watch" text="Selling well. One thing needs you." aside="Sells out at about 12:07">
 *       <li>what, since when, what buyers notice, and a button to a place that exists</li>
 *     </Verdict>
 *     <Figures figures={[{ name: 'Sold', value: '5,776', note: 'of 10,000' }]} />
 *     <Columns split="minmax(0, 7fr) minmax(0, 5fr)">
 *       <Section title="Funnel" aside={<State level="watch">…</State>}>…</Section>
 *       <Section title="Stock by size">…</Section>
 *     </Columns>
 *
 * Sections are never nested, and a box (`.card`, `.opt`) is only for what can be opened or chosen. The classes of
 * `look/` are the drawn ones; a page's own sheet has only what it alone needs, and names no colour or size of its own.
 */
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { Icon, type IconName } from './icon.tsx'
import type { Mark } from './marks.tsx'

interface HeadProps {
  readonly title: ComponentChildren
  /** One quiet line below the title. */
  readonly sub?: ComponentChildren
  /** What stands before the title, such as a picture. */
  readonly before?: ComponentChildren
  /** Buttons and fields of the page, at the end. */
  readonly children?: ComponentChildren
}

/** The head of a page, with its only `h1`. */
export const Head = ({ title, sub, before, children }: HeadProps) => (
  <header class="head">
    {before}
    <div>
      <h1>{title}</h1>
      {sub !== undefined && <p class="row small quiet tight-row">{sub}</p>}
    </div>
    {children}
  </header>
)

interface SectionProps {
  /** The heading, and the section's name for screen readers unless `label` is set. */
  readonly title: string
  readonly label?: string
  readonly id?: string
  /** Stands at the end of the heading: a button, a link, or a quiet note. */
  readonly aside?: ComponentChildren
  readonly children?: ComponentChildren
  /** Further classes, such as `fill` for a section whose content takes its whole height. */
  readonly class?: string
}

/** A section of a page. */
export const Section = ({ title, label, id, aside, children, class: more = '' }: SectionProps) => (
  <section class={`sec ${more}`} id={id} aria-label={label ?? title}>
    <header>
      <h2>{title}</h2>
      {aside !== undefined && aside !== null && <div class="row end">{aside}</div>}
    </header>
    {children}
  </section>
)

/** Sections side by side on a desk: three of one width, or as `split` says in CSS. */
export const Columns = ({ split, children }: { readonly split?: string; readonly children: ComponentChildren }) => (
  <div class="cols" style={split === undefined ? undefined : `--split: ${split}`}>
    {children}
  </div>
)

const VERDICT_ICONS: Readonly<Record<Exclude<Mark, 'unknown' | 'off'>, IconName>> = {
  good: 'check',
  watch: 'warn',
  bad: 'bad',
  info: 'pause',
}

interface VerdictProps {
  readonly level: Exclude<Mark, 'unknown' | 'off'>
  readonly icon?: IconName
  /** A state and a demand, in one sentence or two. It is announced when it changes. */
  readonly text: string
  readonly aside?: ComponentChildren
  /** What needs the operator, as `li` elements, the worst first. */
  readonly children?: ComponentChildren
  /** What stands below, such as the parts' dots. */
  readonly below?: ComponentChildren
}

/** What is wrong first: one tint for all that a page shows. */
export function Verdict({ level, icon = VERDICT_ICONS[level], text, aside, children, below }: VerdictProps) {
  return (
    <section class={`verdict is-${level}`} aria-label="Verdict">
      <p class="say" role="status">
        <Icon name={icon} />
        <b>{text}</b>
        {aside !== undefined && <span>{aside}</span>}
      </p>
      {children !== undefined && <ul aria-label="What needs you">{children}</ul>}
      {below}
    </section>
  )
}

interface Figure {
  readonly name: string
  /** Null says why there is none in `note`. */
  readonly value: ComponentChildren
  readonly note?: ComponentChildren
  /** A small chart below the figure. */
  readonly chart?: ComponentChildren
}

/** Figures on the sheet itself, the first of which is the largest: four, or five. */
export const Figures = ({ figures }: { readonly figures: readonly Figure[] }) => (
  <dl class={figures.length === 5 ? 'figs five' : 'figs'}>
    {figures.map(({ name, value, note, chart }) => (
      <div key={name} class="fig">
        <dt>{name}</dt>
        <dd class={value === null ? 'soon' : 'big'}>{value ?? note}</dd>
        {value !== null && note !== undefined && <dd class="small quiet">{note}</dd>}
        {chart !== undefined && <dd>{chart}</dd>}
      </div>
    ))}
  </dl>
)

/** One sentence, and one button. */
export const EmptyState = ({ text, children }: { readonly text: string; readonly children?: ComponentChildren }) => (
  <div class="empty">
    <p class="quiet">{text}</p>
    {children}
  </div>
)

/** A part of a page that opens in place. */
export function Fold({
  summary,
  children,
}: {
  readonly summary: ComponentChildren
  readonly children: ComponentChildren
}) {
  const id = useId()
  return (
    <details class="fold-out">
      <summary id={id}>
        {summary}
        <Icon name="down" />
      </summary>
      {children}
    </details>
  )
}
