/**
 * Draws the pictures of the demo's shoe: an aurora over dark ice, and a shoe in front of it, from the side, as a pair
 * and from above. They are pure SVG, and the same each time.
 */

import sharp from 'sharp'

const [WIDTH, HEIGHT] = [1200, 1100]
/** The drawing extends this far beyond the picture, because light fades out at its edge. */
const MARGIN = 40
/** The width and height of the picture in pixels. */
const PIXELS = 1280
const HORIZON = 742
const LIGHTS = ['#37e0a2', '#15b79a', '#6f5bff', '#35d3e6', '#a8f5b0'] as const

const VIEWS = {
  side: () => scene(1, shadow(600, 842, 400, 22) + placed('translate(0 70)', shoe())),
  pair: () =>
    scene(
      2,
      shadow(560, 872, 330, 20) +
        placed('translate(1130 60) scale(-0.78 0.78) rotate(14 600 600)', shoe()) +
        placed('translate(40 240) scale(0.82)', shoe()),
    ),
  above: () =>
    scene(
      3,
      placed('translate(372 130) rotate(-7 200 420)', above(1)) +
        placed('translate(700 150) rotate(8 200 420)', above(-1)),
    ),
} as const
export type ShoeView = keyof typeof VIEWS

/** Returns the picture as PNG. */
export function drawShoe(view: ShoeView): Promise<Buffer> {
  const scale = PIXELS / (WIDTH - 2 * MARGIN)
  const [left, height] = [Math.ceil(MARGIN * scale), Math.floor((HEIGHT - 2 * MARGIN) * scale)]
  return sharp(Buffer.from(VIEWS[view]()), { density: 72 * scale })
    .extract({ left, top: left, width: PIXELS, height })
    .png()
    .toBuffer()
}

// -- The scene ------------------------------------------------------------------------------------------------------

function scene(seed: number, subject: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}">
${DEFINITIONS}
<rect width="${WIDTH}" height="${HEIGHT}" fill="url(#sky)"/>
${stars(seed)}
<g filter="url(#glow)">${LIGHTS.map((light, i) => curtain(light, i, seed)).join('')}</g>
<rect y="${HORIZON}" width="${WIDTH}" height="${HEIGHT - HORIZON}" fill="url(#ice)"/>
<g filter="url(#far)" opacity="0.4" transform="translate(0 ${2 * HORIZON}) scale(1 -1)"
  clip-path="url(#above-ice)">${LIGHTS.map((light, i) => curtain(light, i, seed)).join('')}</g>
<path d="${hills(seed)}" fill="#04100f"/>
${subject}
</svg>`
}

/** Pseudo-random numbers from 0 to 1, the same for each seed. */
function* noise(seed: number): Generator<number, never> {
  for (let n = 1; ; n++) {
    const value = Math.sin(n * 12.9898 + seed * 78.233) * 43_758.5453
    yield value - Math.floor(value)
  }
}

function stars(seed: number): string {
  const next = noise(seed)
  const one = () => {
    const [x, y, size] = [next.next().value * WIDTH, next.next().value * HORIZON * 0.8, next.next().value]
    return `<circle cx="${at(x)}" cy="${at(y)}" r="${at(0.5 + size * 1.3)}" opacity="${at(0.2 + size * 0.6)}"/>`
  }
  return `<g fill="#eafff6">${Array.from({ length: 90 }, one).join('')}</g>`
}

/** A curtain of light: rays that rise from a waving line. */
function curtain(light: string, i: number, seed: number): string {
  const phase = i * 1.7 + seed * 0.9
  const rays = Array.from({ length: 76 }, (_, n) => {
    const along = n / 75
    const x = along * (WIDTH + 240) - 120
    const y = 430 + i * 46 + 70 * Math.sin(along * 5.2 + phase) + 34 * Math.sin(along * 13 + phase * 2)
    const height = 210 + 150 * Math.sin(along * 9 + phase * 3) ** 2 + 60 * Math.sin(along * 31 + phase)
    const strength = 0.16 + 0.34 * Math.sin(along * 4.1 + phase) ** 2
    return (
      `<path d="M${at(x)} ${at(y)}l-14 ${at(-height)}h30l6 ${at(height)}z" fill="url(#ray${i})" ` +
      `opacity="${at(strength)}"/>`
    )
  })
  return `<g color="${light}">${rays.join('')}</g>`
}

function hills(seed: number): string {
  const points = Array.from({ length: 25 }, (_, n) => {
    const x = (n * WIDTH) / 24
    return `L${at(x)} ${at(HORIZON - 14 - 26 * Math.sin(n * 0.9 + seed) ** 2 - 14 * Math.sin(n * 2.3 + seed))}`
  })
  return `M0 ${HORIZON + 6}${points.join('')}L${WIDTH} ${HORIZON + 6}z`
}

const shadow = (x: number, y: number, rx: number, ry: number) =>
  `<ellipse cx="${x}" cy="${y}" rx="${rx}" ry="${ry}" fill="#000" opacity="0.75" filter="url(#soft)"/>`
const placed = (transform: string, what: string) => `<g transform="${transform}">${what}</g>`
const at = (value: number) => String(Math.round(value * 100) / 100)

// -- The shoe -------------------------------------------------------------------------------------------------------

const SOLE =
  'M196 668C186 712 192 756 226 766C300 776 420 770 540 770L900 772C968 772 1016 752 1022 712C1024 694 1016 682 ' +
  '1004 676C930 700 780 706 640 700C470 694 300 700 196 668Z'
const UPPER =
  'M206 690C190 634 196 560 218 486C224 462 236 436 252 428C270 420 286 432 300 446C334 478 388 498 430 484C462 ' +
  '474 474 446 490 420C502 402 526 396 546 410C586 440 634 486 690 522C748 558 840 574 912 596C968 614 1008 644 ' +
  '1014 690C960 712 800 716 640 708C470 700 300 708 206 690Z'
const TONGUE =
  'M432 482C446 438 462 398 494 372C512 360 540 366 552 384C562 398 560 412 552 424C530 440 500 470 486 500Z'

function shoe(): string {
  return `
<path d="${TONGUE}" fill="url(#lining)"/>
<path d="M300 446C330 482 392 500 432 484L486 500C430 540 330 530 276 470Z" fill="#06211d"/>
<path d="${UPPER}" fill="url(#upper)"/>
<g clip-path="url(#in-upper)">
  <path d="${UPPER}" fill="url(#mesh)" opacity="0.5"/>
  <path d="M180 700C200 590 300 560 420 600C560 648 700 676 1040 690V760H180Z" fill="url(#dawn)"/>
  <path d="M180 716C240 640 330 622 440 646C580 676 760 700 1040 704V760H180Z" fill="url(#dusk)" opacity="0.9"/>
  <path d="M830 560C880 590 900 640 890 720H1040V600Z" fill="#0b3b33" opacity="0.55"/>
  <path d="M190 720C180 600 210 500 250 424L312 452C280 540 286 620 300 720Z" fill="#08342c" opacity="0.8"/>
  <path d="M200 500C260 470 330 520 420 520C520 520 560 470 640 500L1000 640V420H200Z" fill="url(#sheen)"/>
</g>
<path d="M520 446C566 486 622 528 688 556C716 568 742 574 760 578C744 610 706 622 664 610C596 590 530 548 486 500Z"
  fill="#0b3b33"/>
${[0, 1, 2, 3, 4].map(lace).join('')}
<path d="M312 452C282 540 286 620 300 700M832 562C880 592 900 642 892 706" fill="none" stroke="#8ff0cc"
  stroke-width="2.2" stroke-dasharray="7 6" opacity="0.55"/>
<path d="M300 446C334 478 388 498 430 484" fill="none" stroke="#8ff0cc" stroke-width="5" stroke-linecap="round"
  opacity="0.7"/>
<path d="M226 470C206 470 196 444 214 428C226 418 246 422 252 434" fill="none" stroke="#35d3e6" stroke-width="11"
  stroke-linecap="round"/>
<path d="${SOLE}" fill="url(#foam)"/>
<path d="M196 684C300 716 470 710 640 716C780 722 930 716 1016 694" fill="none" stroke="#fff" stroke-width="3"
  opacity="0.65"/>
<path d="M214 728C330 712 420 752 540 734C660 716 760 752 880 732C930 724 970 726 1006 730" fill="none"
  stroke="#0f9c82" stroke-width="7" stroke-linecap="round" opacity="0.5"/>
<path d="M202 746C212 764 240 772 290 772H930C968 772 996 762 1010 744C1012 776 980 792 930 792H276C232 792 204 774
  202 746Z" fill="#071d1a"/>
<path d="${Array.from({ length: 19 }, (_, n) => `M${250 + n * 37} 780v12`).join('')}" stroke="#2a5a52"
  stroke-width="5"/>`
}

/** One of the laces, from the tongue down to the toe. */
function lace(n: number): string {
  const [x, y] = [520 + n * 47, 456 + n * 31]
  return `<path d="M${x - 30} ${y + 42}C${x - 8} ${y + 26} ${x + 12} ${y + 6} ${x + 22} ${y - 16}" fill="none"
    stroke="#04201b" stroke-width="17" stroke-linecap="round" opacity="0.6"/>
<path d="M${x - 32} ${y + 38}C${x - 10} ${y + 22} ${x + 10} ${y + 2} ${x + 20} ${y - 20}" fill="none" stroke="#e9fff6"
  stroke-width="13" stroke-linecap="round"/>`
}

/** A left shoe from above, the toe up; `side` -1 mirrors it. */
function above(side: 1 | -1): string {
  const outline =
    'M200 40C292 40 330 150 326 270C322 370 296 430 298 540C300 650 300 800 206 812C110 806 106 660 112 560C118 ' +
    '450 76 390 78 270C80 150 116 40 200 40Z'
  return `<g transform="${side === 1 ? '' : 'translate(400 0) scale(-1 1)'}">
<path d="${outline}" transform="translate(8 22)" fill="#000" opacity="0.6" filter="url(#soft)"/>
<path d="${outline}" fill="url(#foam)"/>
<g transform="translate(200 426) scale(0.93 0.955) translate(-200 -426)">
  <path d="${outline}" fill="url(#upper)"/>
  <path d="${outline}" fill="url(#mesh)" opacity="0.5"/>
  <path d="M84 250C120 420 130 520 112 700C100 640 118 520 110 470C100 400 82 340 84 250Z" fill="url(#dusk)"/>
  <path d="M318 230C300 400 292 520 300 690C312 560 300 470 306 420C320 350 322 300 318 230Z" fill="url(#dawn)"/>
  <path d="M92 190C130 120 270 120 312 190C300 90 260 44 200 44C140 44 104 90 92 190Z" fill="#0b3b33" opacity="0.7"/>
  <path d="M148 250C180 230 224 230 256 250C262 350 262 440 252 500H154C142 440 142 350 148 250Z" fill="#0b3b33"/>
  <path d="M166 262C188 250 216 250 238 262L240 560H166Z" fill="url(#lining)"/>
  ${[0, 1, 2, 3, 4]
    .map(
      (n) => `<path
    d="M152 ${276 + n * 46}C184 ${292 + n * 46} 220 ${292 + n * 46} 252 ${276 + n * 46}" fill="none" stroke="#e9fff6"
      stroke-width="14" stroke-linecap="round"/>`,
    )
    .join('')}
  <path d="M204 520C262 520 276 600 270 680C266 740 246 776 204 776C160 774 142 736 140 680C138 600 148 520 204 520Z"
    fill="#031512"/>
  <path d="M204 560C244 560 252 620 250 680C248 730 236 756 204 756C172 754 162 728 160 680C158 620 164 560 204 560Z"
    fill="url(#dusk)" opacity="0.55"/>
</g></g>`
}

// -- Colours --------------------------------------------------------------------------------------------------------

const gradient = (id: string, direction: string, ...stops: readonly (readonly [number, string, number?])[]) =>
  `<linearGradient id="${id}" ` +
  `${direction}>${stops
    .map(
      ([offset, colour, opacity = 1]) => `<stop offset="${offset}" stop-color="${colour}"
    stop-opacity="${opacity}"/>`,
    )
    .join('')}</linearGradient>`
const DOWN = 'x1="0" y1="0" x2="0" y2="1"'
const ACROSS = 'x1="0" y1="0" x2="1" y2="0.25"'

const DEFINITIONS = `<defs>
${gradient('sky', DOWN, [0, '#020a12'], [0.5, '#06202a'], [0.68, '#0b3a38'])}
${gradient('ice', DOWN, [0, '#0a2f30'], [0.35, '#06191c'], [1, '#02080a'])}
${LIGHTS.map((light, i) => gradient(`ray${i}`, DOWN, [0, light, 0], [0.55, light, 0.5], [0.92, light, 0.95], [1, light, 0])).join('\n')}
${gradient('upper', ACROSS, [0, '#0d4a40'], [0.45, '#14695a'], [0.8, '#1c8470'], [1, '#0e5649'])}
${gradient('lining', DOWN, [0, '#35d3e6'], [0.35, '#138a7c'], [1, '#07332c'])}
${gradient('dawn', ACROSS, [0, '#37e0a2', 0.9], [0.5, '#35d3e6', 0.85], [1, '#6f5bff', 0.8])}
${gradient('dusk', ACROSS, [0, '#a8f5b0'], [0.4, '#37e0a2'], [1, '#8f7dff'])}
${gradient('sheen', DOWN, [0, '#d8fff0', 0.5], [0.6, '#d8fff0', 0.04], [1, '#d8fff0', 0])}
${gradient('foam', DOWN, [0, '#ffffff'], [0.55, '#dff3ea'], [1, '#9fc4b7'])}
<pattern id="mesh" width="9" height="9" patternUnits="userSpaceOnUse" patternTransform="rotate(32)"><circle cx="3"
  cy="3" r="1.5" fill="#03201a"/><circle cx="7.5" cy="7.5" r="1.1" fill="#7fe9c4" opacity="0.35"/></pattern>
<clipPath id="in-upper"><path d="${UPPER}"/></clipPath>
<clipPath id="above-ice"><rect width="${WIDTH}" height="${HORIZON}"/></clipPath>
<filter id="glow" x="-10%" y="-10%" width="120%" height="120%"><feGaussianBlur stdDeviation="9 14"/></filter>
<filter id="far" x="-10%" y="-10%" width="120%" height="120%"><feGaussianBlur stdDeviation="26 30"/></filter>
<filter id="soft" x="-30%" y="-80%" width="160%" height="260%"><feGaussianBlur stdDeviation="16"/></filter>
</defs>`
