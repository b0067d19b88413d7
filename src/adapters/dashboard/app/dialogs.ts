import { signal } from '@preact/signals'

/** Whether the table of keys is shown. */
export const isHelpOpen = signal(false)

/** Whether search and run is shown. */
export const isCommandOpen = signal(false)
