import { seal } from '../kernel/secrets.ts'

/**
 * The digest under which the world keeps a secret that a client presents; undefined when no secret can have it. A digest
 * read out of the state file is not a secret: `seal` leaves it as it is, so it must not pass for one.
 */
export function presentedSecret(given: string): string | undefined {
  const sealed = seal(given)
  return sealed === given ? undefined : sealed
}
