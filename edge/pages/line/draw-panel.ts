/**
 * The draw as a visitor sees it: before the opening the published commitment, and afterwards the check mark that the
 * page's script shows once it has verified the seed against that commitment.
 */
import { isDrawn } from '../../../shared/schedule.ts'
import { type Html, hidden, html, icon } from '../html.ts'
import { type PageContext, scheduleOf } from '../view.ts'

export function drawPanel({ view, words }: PageContext): Html {
  const { schedule } = view
  const drawn = isDrawn(schedule)
  return html`<section class="panel" id="draw" data-draw="${drawn ? 'shown' : 'before'}" aria-labelledby="draw-title">
    <h2 id="draw-title">${words.draw}</h2>
    <div data-when-draw="before" ${hidden(drawn)}><p>${words.drawBefore}</p></div>
    <div data-when-draw="shown" ${hidden(!drawn)}><p>${words.drawUnchecked}</p></div>
    <div data-when-draw="holds" hidden>
      <p class="row good">${icon('check')} <b>${words.drawHolds}</b></p>
      <p>${words.drawHoldsText} <span id="draw-seen" hidden>${words.drawSeenBefore}</span> <span id="draw-yours" ${
        view.number !== null && html`data-drawn="${words.drawYours}" data-later="${words.drawLater}"`
      }></span></p>
    </div>
    <div data-when-draw="broken" role="alert"
      hidden><p><b>${words.drawBroken}</b>${words.fullStop}${words.drawBrokenText}</p></div>
    <details class="small">
      <summary>${words.drawDetails}</summary>
      <dl class="small">
        <div><dt>${words.commitment}</dt><dd><code>${schedule.draw_commitment}</code></dd></div>
        <div id="seed-row" ${hidden(!drawn)}><dt>${words.seed}</dt><dd><code
          id="seed">${schedule.draw_seed}</code></dd></div>
        ${beaconRow({ view, words })}
      </dl>
      <p><a href="${scheduleOf(view)}">${words.drawData}</a></p>
    </details>
  </section>`
}

/** The row also says if a draw was made without the announced beacon. */
function beaconRow({ view: { schedule }, words }: Pick<PageContext, 'view' | 'words'>) {
  const { beacon_announced, draw_beacon } = schedule
  if (draw_beacon !== null) return html`<div><dt>${words.beacon}</dt><dd><code>${draw_beacon}</code></dd></div>`
  if (!beacon_announced) return false
  return html`<div><dt>${words.beacon}</dt><dd>${
    isDrawn(schedule) ? words.beaconMissed : words.beaconAnnounced
  }</dd></div>`
}
