/** Pictures for previews. They are drawn from their name, and served as SVG whatever format the page requests. */

/** The picture of a path such as `/images/aa…/640.webp`; undefined for any other path. */
export function samplePicture(path: string): string | undefined {
  const [, hash = ''] = /^\/images\/([0-9a-f]{32})\//.exec(path) ?? []
  if (hash === '') return
  const turn = (Number.parseInt(hash.slice(0, 2), 16) * 7) % 360
  const colour = (more: number, light: number) => `hsl(${(turn + more) % 360} 55% ${light}%)`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1440 1310"><defs><linearGradient id="g" x2="1" y2="1"><stop stop-color="${colour(0, 18)}"/><stop offset="1" stop-color="${colour(50, 42)}"/></linearGradient></defs>
<rect width="1440" height="1310" fill="url(#g)"/><path
  d="M0 420C320 120 560 640 880 320S1320 240 1440 380V620C1180 420 960 860 660 620S200 520 0 700Z"
    fill="${colour(80, 60)}" opacity=".5"/>
<ellipse cx="720" cy="1010" rx="520" ry="52" opacity=".35"/><path
  d="M210 900C200 700 420 690 560 520 640 420 700 400 780 500c80 90 220 80 300 20 60 60 140 260 130 380 0 50-40 70-90
    72H280c-50 0-70-30-70-72Z" fill="${colour(20, 94)}"/><path
      d="M210 890c280 60 700 60 1000-20v60c0 50-40 70-90 72H280c-50 0-70-30-70-72Z" fill="${colour(60, 55)}"/></svg>`
}
