import { z } from 'zod'

const status = () => z.int().min(100).max(599)

/** One wrong field, in the body of an error. */
export const fieldError = z.object({
  pointer: z.string().describe('JSON Pointer (RFC 6901) into the body, or below /query.'),
  detail: z.string(),
  custom_id: z.string().optional().describe('The item that contains the field.'),
})

/** The standard error body. Specification: Errors / Standard error body. */
export const standardError = z.object({
  status_code: status().describe('The HTTP status.'),
  statusCode: status().optional().meta({ description: 'The same as status_code.', deprecated: true }),
  error: z.string().describe('The code of the error.'),
  message: z.string(),
  mitigation: z.string().optional().describe('How to fix the problem.'),
  retryable: z.boolean().describe('Whether a later try can succeed.'),
  details: z.object({ reason: z.string().optional(), errors: z.array(fieldError).optional() }),
})

/** Problem details (RFC 9457). Specification: Errors / Batch prediction errors. */
export const problemDetails = z.object({
  type: z.string().meta({ format: 'uri-reference' }),
  title: z.string(),
  status: status(),
  detail: z.string(),
  instance: z.string().meta({ format: 'uri-reference' }),
  errors: z.array(fieldError).optional(),
})
