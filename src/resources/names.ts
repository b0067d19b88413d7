import * as z from 'zod'
import type { Setting } from '../kernel/assumptions.ts'

/**
 * A string that is one of the names that settings supply, because the specification shows none. The message names the
 * settings: whoever sends a name of the real service has to learn where to put it.
 */
export function oneOfNames(
  names: readonly string[],
  ...settings: readonly Pick<Setting<unknown>, 'key' | 'item'>[]
): z.ZodType<string> {
  const known = names.map((name) => JSON.stringify(name)).join(', ')
  const keys = settings.map(({ key }) => key).join(', ')
  return z
    .string()
    .refine((value) => names.includes(value), {
      error: `must be one of ${known}; other names are a matter of the settings ${keys}`,
      params: { assumed: settings[0]?.item },
    })
    .meta({ enum: [...names] })
}
