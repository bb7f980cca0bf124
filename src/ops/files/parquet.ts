import type { DecodedArray, SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import manifest from '../../../package.json' with { type: 'json' }
import type { ReportingColumn, ReportingSink, ReportingValue } from '../../services/book/reportingExport.ts'
import type { Io } from '../terminal/terminalIo.ts'
import { beginFile, type PartFile } from './partFile.ts'

/** The digits after the point of a decimal, and all of them: the widest that readers take, for sums of a whole book. */
const SCALE = 2
const PRECISION = 38
const DECIMAL_BYTES = 16
/** The decimals that are no money. */
const SCALES: Readonly<Record<string, number>> = { rate_percent: 6 }
const scaleOf = (name: string): number => SCALES[name] ?? SCALE

const DAY_MS = 86_400_000

/** The element of the schema of each type, without its name. */
const ELEMENTS: Readonly<Record<ReportingColumn['type'], Omit<SchemaElement, 'name'>>> = {
  bool: { type: 'BOOLEAN' },
  int4: { type: 'INT32' },
  int8: { type: 'INT64' },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  date: { type: 'INT32', converted_type: 'DATE' },
  timestamptz: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
  numeric: {
    type: 'FIXED_LEN_BYTE_ARRAY',
    type_length: DECIMAL_BYTES,
    converted_type: 'DECIMAL',
    precision: PRECISION,
  },
}

/** Returns the schema of a file: every column may be null. */
const schemaOf = (columns: readonly ReportingColumn[]): SchemaElement[] => [
  { name: 'root', num_children: columns.length },
  ...columns.map(
    ({ name, type }): SchemaElement => ({
      name,
      repetition_type: 'OPTIONAL',
      ...ELEMENTS[type],
      ...(type === 'numeric' && { scale: scaleOf(name) }),
    }),
  ),
]

/** Returns a value as the writer takes it: of a decimal, its units. */
function written({ name, type }: ReportingColumn, value: ReportingValue): unknown {
  if (value === null) return undefined
  if (type === 'date') return Date.parse(`${value}T00:00:00Z`) / DAY_MS
  return type === 'numeric' ? unitsOf(String(value), scaleOf(name)) : value
}

/** Returns the units of a decimal text. @throws RangeError for one that has more digits after the point than the scale */
export function unitsOf(text: string, scale: number): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  const digits = fraction.replace(/0+$/, '')
  if (digits.length > scale) throw new RangeError(`${text} has more than ${scale} digits after the point`)
  return BigInt(`${whole}${digits.padEnd(scale, '0')}`)
}

/**
 * Writes reporting views into a folder, a file of Parquet each. Every part of the rows is a row group, which is on its way to the
 * disk before the next part is read. Money is DECIMAL(38, 2).
 * @param pathOf returns the path of a view's file
 */
export function parquetSink(
  pathOf: (view: string) => string,
  io: Pick<Io, 'startProgress'>,
  total: number,
): ReportingSink & { abandon(): Promise<void> } {
  const bar = io.startProgress('parquet', total)
  let done = 0
  let writing: { file: PartFile; bytes: ByteWriter; parquet: ParquetWriter } | undefined
  /** Sends what the writer has made to the file; the offsets that it counts go on. */
  async function flush(): Promise<void> {
    if (!writing) return
    const { file, bytes } = writing
    await file.append(new Uint8Array(bytes.buffer, 0, bytes.index))
    bytes.index = 0
  }
  return {
    async begin(view, columns) {
      const file = await beginFile(pathOf(view))
      const bytes = new ByteWriter()
      const createdBy = `Mkopo ${manifest.version}`
      writing = { file, bytes, parquet: new ParquetWriter({ writer: bytes, schema: schemaOf(columns), createdBy }) }
    },
    async write({ columns, rows }) {
      const columnData = columns.map((column, index) => ({
        name: column.name,
        data: rows.map((row) => written(column, row[index] ?? null)) as DecodedArray,
        offsetIndex: false,
      }))
      await writing?.parquet.write({ columnData, rowGroupSize: rows.length })
      await flush()
    },
    async end() {
      if (!writing) return
      await writing.parquet.finish()
      await flush()
      const { file } = writing
      writing = undefined
      await file.finish()
      bar.update(++done)
    },
    async abandon() {
      bar.stop()
      await writing?.file.abandon()
      writing = undefined
    },
  }
}
