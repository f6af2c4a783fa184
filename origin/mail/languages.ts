/** The languages of the mails to buyers. */
export const MAIL_LANGUAGES = ['en', 'de', 'fr', 'es', 'ja', 'ar'] as const
export type MailLanguage = (typeof MAIL_LANGUAGES)[number]
