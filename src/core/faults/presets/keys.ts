import type { Preset } from '../preset.ts'

/** What becomes of API keys. */
export const keyPresets: readonly Preset[] = [
  {
    name: 'token-expired-mid-session',
    family: 'auth',
    description: 'Each key works for two calls, then answers 401: it has expired.',
    match: 'everything',
    when: { by: 'api_key' },
    do: [{ auth: { expire_after_calls: 2 } }],
  },
  {
    name: 'token-revoked',
    family: 'auth',
    description: 'The key of the next request is revoked: that request and all later ones answer 401.',
    match: 'everything',
    when: { nth: 1 },
    do: [{ auth: { revoke: true } }],
  },
]
