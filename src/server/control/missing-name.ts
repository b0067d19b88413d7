import { z } from 'zod'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'

/** The field of what names an operation that there may be again when files of the user change. */
export const missingNote = () => ({
  /** Present if there is no operation of this name at present. */
  note: z.string().exactOptional(),
})

/** That field, for the name of an operation. */
export function missingName({ service }: Sandbox, name: string | undefined): { readonly note?: string } {
  if (name === undefined || service.operations.has(name)) return {}
  return { note: 'no operation of this name at present' }
}
