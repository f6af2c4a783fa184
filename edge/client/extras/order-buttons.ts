/** Buttons of an order that only a script can work: shown where the browser has what they need. */
import { each, show } from '../page.ts'

export function showOrderButtons(): void {
  each<HTMLButtonElement>('[data-copy]', (button) => {
    show(button, 'clipboard' in navigator)
    button.onclick = () => void copy(button)
  })
  each<HTMLButtonElement>('[data-share]', (button) => {
    show(button, 'share' in navigator)
    button.onclick = () => void share(button)
  })
}

async function copy(button: HTMLButtonElement): Promise<void> {
  await navigator.clipboard.writeText(button.dataset.copy ?? '').then(
    () => {
      button.dataset.done = ''
    },
    () => {},
  )
}

async function share({ dataset }: HTMLButtonElement): Promise<void> {
  const url = new URL(dataset.share ?? '', location.href).href
  // Whoever changes their mind has not failed.
  await navigator.share({ title: byName(), url }).catch(() => {})
}

const byName = () => document.getElementById('stage')?.dataset.name ?? ''
