/** The picture of a sale: that of its first product, or else the first letter of its name on a tint. */
import { shop } from '../session.ts'

interface Pictured {
  readonly name: string
  readonly images?: readonly { readonly url: string }[] | undefined
}

interface PictureProps {
  readonly products: readonly Pictured[]
  readonly isLarge?: boolean
}

/** A picture of goods as visitors load it: ours are at the address of their pages. */
export const shownAt = (url: string) => (url.startsWith('/') && shop.value !== null ? `${shop.value}${url}` : url)

/** It repeats the name beside it, so it is for the eye only. */
export function Picture({ products, isLarge = false }: PictureProps) {
  const size = isLarge ? 'pic l' : 'pic'
  const image = products.flatMap(({ images = [] }) => images)[0]
  if (image) return <img class={size} src={shownAt(image.url)} alt="" loading="lazy" />
  return (
    <span class={`${size} letter`} aria-hidden="true">
      {[...(products[0]?.name ?? '')][0]}
    </span>
  )
}
