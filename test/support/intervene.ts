import type * as z from 'zod'
import { refuseInvalid } from '../../src/core/errors.ts'
import { nothing } from '../../src/core/fields.ts'
import type { JsonObject } from '../../src/core/json.ts'
import type { AnyControl } from '../../src/core/operation.ts'
import { change } from '../../src/core/sandboxes/change.ts'
import type { Sandbox } from '../../src/core/sandboxes/sandbox.ts'
import { zodIssues } from '../../src/core/zod-issues.ts'

/** Intervenes in a batch as the control API does after reading its body: `POST /batches/{id}/fail`. */
export function interveneBy(
  sandbox: Sandbox,
  route: string,
  params: Readonly<Record<string, string>> = {},
  body: object = {},
): JsonObject {
  const controls = sandbox.service.resources.flatMap((resource) => resource.controls ?? [])
  const control = controls.find(({ method, path }) => `${method} ${path}` === route)
  if (control === undefined) throw new Error(`no resource declares the intervention ${route}`)
  const { data, error } = bodyOf(control, sandbox).safeParse(body)
  if (error !== undefined) refuseInvalid(zodIssues(error, ''))
  return change(sandbox, (scope) => control.handle(scope, { params, body: data, query: undefined }))
    .result as JsonObject
}

const bodies = new WeakMap<AnyControl, z.ZodType>()

// Compiling a schema takes longer than a whole batch, so each one is compiled once.
function bodyOf(control: AnyControl, { settings }: Sandbox): z.ZodType {
  const schema: z.ZodType = bodies.get(control) ?? control.input?.(settings).body ?? nothing
  bodies.set(control, schema)
  return schema
}
