/** The types of events in the feed of a sandbox, without those about the feed itself. */
export const EVENT_TYPES = [
  'request',
  'event',
  'delivery',
  'transition',
  'clock',
  'schedule',
  'scenario',
  'gate',
  'sandbox',
] as const

export type EventType = (typeof EVENT_TYPES)[number]
