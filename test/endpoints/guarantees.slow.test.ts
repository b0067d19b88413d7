import { testGuarantees } from './guarantees.ts'

testGuarantees(['express', 'fetch'])
