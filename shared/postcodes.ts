/**
 * Countries without postcodes, or in which many addresses have none (ISO 3166-1). The form does not require one
 * there.
 */
export const WITHOUT_POSTCODES: ReadonlySet<string> = new Set(
  (
    'AE AG AO AW BB BF BI BJ BO BS BW BZ CD CF CG CI CM DJ DM ER FJ GD GH GM GQ GY HK IE JM KI KM KN LC ML MO MR ' +
    'MW NR QA RW SB SC SL SO SR ST SY TG TL TO TT TV UG VU YE ZW'
  ).split(' '),
)
