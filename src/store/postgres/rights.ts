/** Whose word is missing where PostgreSQL says that this user may not do something. */

import { StoreUnavailable } from '../../core/ports.ts';
import { StoreRefused } from '../refused.ts';
import { LATER_TABLES } from './schema.ts';
import { SCHEMA, type Session } from './session.ts';

/** SQLSTATE of a right that is missing. */
export const DENIED = '42501';

/** Only the owner of a table can change it, no GRANT helps. Undefined where it is not the tables. */
export async function deniedOnTables(session: Session): Promise<StoreRefused | undefined> {
  try {
    await session.query('ROLLBACK');
    return await told(session);
  } catch (error) {
    // Not even let in.
    if (error instanceof StoreUnavailable) return undefined;
    throw error;
  }
}

async function told(session: Session): Promise<StoreRefused | undefined> {
  const { rows } = await session.query(
    `SELECT current_user AS me, tableowner AS owner, string_agg(tablename, ', ' ORDER BY tablename) AS tables
    FROM pg_tables WHERE schemaname = $1 AND NOT pg_has_role(tableowner, 'USAGE') GROUP BY tableowner`,
    [SCHEMA],
  );
  const [first] = rows;
  if (!first) return undefined;
  const { me, owner } = first;
  const tables = rows.map(row => row.tables).join(', ');
  return new StoreRefused(
    `the tables in the schema ${SCHEMA} belong to the user "${owner}", and "${me}" may not do all that this version needs`,
    `start it once as "${owner}" (DATABASE_URL), or as a superuser run ALTER TABLE ${SCHEMA}.<name> OWNER TO "${me}" for ${tables}`,
  );
}

/** What an earlier version had no table for, the rights that were given for that one do not hold for. Tables of others do not count. */
export async function checkRights(session: Session): Promise<void> {
  const { rows } = await session.query(
    `SELECT current_user AS me, string_agg(tablename, ', ' ORDER BY tablename) AS tables
    FROM pg_tables WHERE schemaname = $1 AND tablename = ANY($2)
      AND NOT has_table_privilege(format('%I.%I', schemaname, tablename), 'SELECT')`,
    [SCHEMA, Object.keys(LATER_TABLES)],
  );
  const { me, tables } = rows[0] ?? {};
  if (tables)
    throw new StoreRefused(
      `the user "${me}" has no rights to ${tables} in the schema ${SCHEMA}`,
      `as the owner of the tables run GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${SCHEMA} TO "${me}"`,
    );
}
