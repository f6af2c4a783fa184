/** What each part of a report is made of. */
import type { ComponentChildren } from 'preact'

export function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}
