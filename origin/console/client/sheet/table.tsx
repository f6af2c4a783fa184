/** A table whose rows become two lines on a phone. */
import type { ComponentChildren } from 'preact'

interface Column<Row> {
  readonly name: string
  /** True if the name is for screen readers only. */
  readonly unnamed?: boolean
  /** What stands in the head in place of the name. */
  readonly head?: ComponentChildren
  /** Numbers stand at the end. */
  readonly number?: boolean
  /** True for what a phone leaves out. */
  readonly wide?: boolean
  /** Where it stands on a phone: before both lines (`a`), in the second line (`z`), or there below its name. */
  readonly phone?: 'a' | 'z' | 'named'
  cell(row: Row): ComponentChildren
}

interface TableProps<Row> {
  readonly label: string
  /** The first column with neither `number` nor `phone: 'a'` names the row. */
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  keyOf(row: Row): string | number
  isChosen?(row: Row): boolean
}

const classOf = <Row,>({ number, wide, phone }: Column<Row>) =>
  [number && 'n', wide && 'wide', phone].filter(Boolean).join(' ') || undefined

/** Words stand at the start, figures at the end, with one hairline for each row. */
export function Table<Row>({ label, columns, rows, keyOf, isChosen }: TableProps<Row>) {
  const naming = columns.findIndex(({ number, phone }) => !number && phone !== 'a')
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys.
    <section class="scroll" aria-label={label} tabIndex={0}>
      <table class="fold">
        <thead>
          <tr>
            {columns.map((column) =>
              column.head === undefined ? (
                <th key={column.name} scope="col" class={classOf(column)}>
                  {column.unnamed ? <span class="unseen">{column.name}</span> : column.name}
                </th>
              ) : (
                <td key={column.name} class={classOf(column)}>
                  {column.head}
                </td>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} class={isChosen?.(row) ? 'chosen' : undefined}>
              {columns.map((column, i) =>
                i === naming ? (
                  <th key={column.name} scope="row" class={classOf(column)}>
                    {column.cell(row)}
                  </th>
                ) : (
                  <td key={column.name} class={classOf(column)} data-name={column.name}>
                    {column.cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
