/** The bodies that come with the emulator, for the primitive `body`. */
export const BODY_FIXTURES = ['html-error', 'html-login', 'empty'] as const
