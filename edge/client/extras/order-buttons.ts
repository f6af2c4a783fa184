/** Order buttons that need a script. They are shown only if the browser has the function for them. */
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
  // A visitor who cancels sharing has not caused an error.
  await navigator.share({ title: byName(), url }).catch(() => {})
}

const byName = () => document.getElementById('stage')?.dataset.name ?? ''
