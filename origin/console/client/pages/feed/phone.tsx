/** A drawing of a visitor's phone, in the buyers' own colours. */
import { shop } from '../../session.ts'

/** Where the text is shown, and how it looks there. */
export type Loudness = 'feed' | 'info' | 'warning'

interface PhoneProps {
  readonly text: string
  readonly language: string
  readonly loudness: Loudness
}

export function Phone({ text, language, loudness }: PhoneProps) {
  const told = text !== '' && (
    <p class={loudness === 'warning' ? 'told warning' : 'told'} lang={language} dir="auto">
      {text}
    </p>
  )
  return (
    <div class="buyer-phone" role="img" aria-label="A visitor’s phone with the text and the place in line">
      <div class="glass" aria-hidden="true">
        <p class="small">
          <b>{shop.value === null ? 'Shop' : new URL(shop.value).host}</b>
        </p>
        {loudness !== 'feed' && told}
        <p>
          <b>You are in line</b>
        </p>
        <p class="ahead">3,184</p>
        <p class="quiet small">people ahead of you</p>
        {loudness === 'feed' && told}
      </div>
    </div>
  )
}
