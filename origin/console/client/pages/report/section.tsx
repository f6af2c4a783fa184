/** The building blocks of a report: the data, and the frame of each part. */
import type { ComponentChildren } from 'preact'
import { admin, read } from '../../api.ts'

export const readReport = (sale: string) => read(admin.sales[':sale'].report.$get({ param: { sale } }))
export type Report = Awaited<ReturnType<typeof readReport>>

export function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}
