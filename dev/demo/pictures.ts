/** Draws the pictures of the demo sales (a poster, a record, a hall and a night at the sea), and the shop's logo. */
import sharp from 'sharp'

const [WIDTH, HEIGHT] = [1280, 1180]
const at = (value: number) => String(Math.round(value * 10) / 10)
const each = (count: number, draw: (i: number) => string) => Array.from({ length: count }, (_, i) => draw(i)).join('')

/** A line that waves across the picture at a height. */
const wave = (y: number, swing: number, phase: number) =>
  `M0 ${at(y)}${each(33, (i) => {
    const rise = Math.sin(i / 3.6 + phase) + Math.sin(i / 1.3 + phase * 2) / 3
    return `L${at((i * WIDTH) / 32)} ${at(y + swing * rise)}`
  })}`
const ground = (colour: string) => `<rect width="${WIDTH}" height="${HEIGHT}" fill="${colour}"/>`

const DRAWINGS = {
  poster: () =>
    `${ground('#d8d2c4')}<rect x="300" y="90" width="680" height="1000" fill="#0f2f2b"/>
<svg x="300" y="90" width="680" height="1000" viewBox="0 0 ${WIDTH} 1882" preserveAspectRatio="none">
<circle cx="800" cy="520" r="300" fill="#f2a65a"/>${each(
      7,
      (i) =>
        `<path d="${wave(900 + i * 130, 70, i)}V1882H0Z" fill="hsl(${170 - i * 8} 45% ${36 - i * 4}%)" opacity=".92"/>`,
    )}</svg>`,
  vinyl: () =>
    `${ground('#22303c')}<rect x="130" y="150" width="880" height="880" fill="#e8743b"/>
<path d="M130 720C420 560 640 900 1010 640V1030H130Z" fill="#f6c667"/><circle cx="860" cy="590" r="400" fill="#0b0d10"/>
${each(22, (i) => `<circle cx="860" cy="590" r="${170 + i * 10}" fill="none" stroke="#2a2e35" stroke-width="2"/>`)}
<circle cx="860" cy="590" r="130" fill="#f6c667"/><circle cx="860" cy="590" r="14" fill="#22303c"/>`,
  hall: () =>
    `${ground('#140f1c')}<path d="M420 0H860L1080 520H200Z" fill="#f3d9a4" opacity=".28"/>
<rect x="240" y="470" width="800" height="70" rx="8" fill="#8a5a2b"/>${each(11, (row) => {
      const [many, y] = [14 + row * 2, 640 + row * 50]
      return each(many, (i) => {
        const along = (i / (many - 1)) * 2 - 1
        return `<circle cx="${at(WIDTH / 2 + along * (380 + row * 24))}" cy="${at(y - 60 * along * along)}" r="15" fill="hsl(${350 - row * 4} 55% ${46 - row * 2.6}%)"/>`
      })
    })}`,
  night: () =>
    `${ground('#0b1830')}<circle cx="880" cy="330" r="150" fill="#f4efdc"/>${each(
      8,
      (i) =>
        `<path d="${wave(640 + i * 68, 22, i * 1.9)}V${HEIGHT}H0Z" fill="hsl(${212 - i * 3} 52% ${32 - i * 3}%)"/>`,
    )}`,
} as const
export type Drawing = keyof typeof DRAWINGS

/** Returns the picture as PNG. */
export const drawPicture = (drawing: Drawing): Promise<Buffer> =>
  sharp(
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}">${DRAWINGS[drawing]()}</svg>`,
    ),
  )
    .png()
    .toBuffer()

/** The colour is readable on light and on dark paper. */
const LOGO_INK = '#0f8a68'
/** The strokes of the demo shop's name. */
const LETTERS = [
  'M37 4V23M49 4V23M37 13H49M66 17a6 6 0 1 1-12 0a6 6 0 1 1 12 0M66 11V23M72 3V23M82 4c-3-1-5 0-5 4V23M75 11H82',
  'M86 11l4 12 4-11 4 11 4-12M118 17a6 6 0 1 1-12 0a6 6 0 1 1 12 0M118 11V23M122 11l5 12M132 11l-6 15c-1 2-2 2-4 2',
].join('')

/** Returns the logo of the demo shop as PNG. */
export const drawLogo = (): Promise<Buffer> =>
  sharp(
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="544" height="128" viewBox="0 -1 136 32"><g fill="none"
stroke="${LOGO_INK}" stroke-width="3.2" stroke-linejoin="round"
><circle cx="14" cy="15" r="11"/><path d="${LETTERS}"/></g><path
d="M14 4a11 11 0 0 0 0 22Z" fill="${LOGO_INK}"/></svg>`,
    ),
  )
    .png()
    .toBuffer()
