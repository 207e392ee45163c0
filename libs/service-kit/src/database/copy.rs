//! All rows of a database as JSON, and back, also into the other kind of database.
//!
//! What tables and columns there are is asked of the database itself, so that no table that is added later is forgotten.
//! `pg_dump` and SQLite's own backup are not used: neither moves from one kind of database to the other, and the former has
//! to be there in the very version of the server.

use base64::{Engine, engine::general_purpose::STANDARD};
use futures::TryStreamExt;
use sea_orm::{
    AccessMode, ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, ExprTrait, IsolationLevel,
    QueryResult, Statement, StreamTrait, TransactionTrait, Value,
    sea_query::{Alias, Asterisk, Expr, Order, Query},
};
use serde_json::{Map, Value as Json};
use uuid::Uuid;

/// A table of the database.
#[derive(Debug, Clone)]
pub struct Table {
    /// What it is called.
    pub name: String,
    columns: Vec<Column>,
    /// Columns that point to another row, with the table it is in.
    references: Vec<(String, String)>,
}

#[derive(Debug, Clone)]
struct Column {
    name: String,
    kind: Kind,
}

/// What a column holds, whatever the database calls it.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Text,
    Integer,
    Boolean,
    Bytes,
    Uuid,
    Json,
}

/// A transaction that only reads, and sees the database as it is at one moment, whatever others write meanwhile.
#[allow(clippy::disallowed_methods, reason = "it never writes")]
pub async fn begin_snapshot(db: &DatabaseConnection) -> Result<DatabaseTransaction, DbErr> {
    match db.get_database_backend() {
        DbBackend::Postgres => {
            db.begin_with_config(Some(IsolationLevel::RepeatableRead), Some(AccessMode::ReadOnly)).await
        }
        _ => db.begin().await,
    }
}

/// Every table, in an order in which each comes after those that its rows point to.
pub async fn tables(db: &impl ConnectionTrait) -> Result<Vec<Table>, DbErr> {
    let names = match db.get_database_backend() {
        DbBackend::Postgres => {
            "SELECT table_name::text AS name FROM information_schema.tables \
             WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY 1"
        }
        _ => "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY 1",
    };
    let mut waiting = Vec::new();
    for row in all(db, names, None).await? {
        let name: String = row.try_get("", "name")?;
        waiting.push(Table { columns: columns(db, &name).await?, references: references(db, &name).await?, name });
    }
    let mut ordered: Vec<Table> = Vec::new();
    while !waiting.is_empty() {
        let is_ready = |table: &Table| {
            table.references.iter().all(|(_, to)| *to == table.name || ordered.iter().any(|done| done.name == *to))
        };
        let (ready, later): (Vec<_>, Vec<_>) = waiting.into_iter().partition(is_ready);
        if ready.is_empty() {
            return Err(DbErr::Custom("tables point to each other in a circle".to_owned()));
        }
        ordered.extend(ready);
        waiting = later;
    }
    Ok(ordered)
}

async fn columns(db: &impl ConnectionTrait, table: &str) -> Result<Vec<Column>, DbErr> {
    let columns = match db.get_database_backend() {
        DbBackend::Postgres => {
            "SELECT column_name::text AS name, data_type::text AS type FROM information_schema.columns \
             WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position"
        }
        _ => "SELECT name, type FROM pragma_table_info($1) ORDER BY cid",
    };
    let mut found = Vec::new();
    for row in all(db, columns, Some(table)).await? {
        let (name, declared): (String, String) = (row.try_get("", "name")?, row.try_get("", "type")?);
        let unknown =
            || DbErr::Type(format!("column {name} of {table} is of type {declared}, which is not known here"));
        let kind = Kind::of(&declared.to_lowercase()).ok_or_else(unknown)?;
        found.push(Column { name, kind });
    }
    Ok(found)
}

async fn references(db: &impl ConnectionTrait, table: &str) -> Result<Vec<(String, String)>, DbErr> {
    let references = match db.get_database_backend() {
        DbBackend::Postgres => {
            "SELECT a.attname::text AS col, c.confrelid::regclass::text AS parent FROM pg_constraint c \
             JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1] \
             WHERE c.contype = 'f' AND c.conrelid = to_regclass($1)"
        }
        _ => "SELECT \"from\" AS col, \"table\" AS parent FROM pragma_foreign_key_list($1)",
    };
    let rows = all(db, references, Some(table)).await?;
    rows.iter().map(|row| Ok((row.try_get("", "col")?, row.try_get("", "parent")?))).collect()
}

async fn all(db: &impl ConnectionTrait, sql: &str, name: Option<&str>) -> Result<Vec<QueryResult>, DbErr> {
    let values: Vec<Value> = name.into_iter().map(Value::from).collect();
    db.query_all_raw(Statement::from_sql_and_values(db.get_database_backend(), sql, values)).await
}

/// Hands over each row of a table as JSON, in an order in which it can be written again. One is in memory at a time.
pub async fn read_rows<E: From<DbErr>>(
    db: &DatabaseTransaction,
    table: &Table,
    mut each: impl FnMut(Map<String, Json>) -> Result<(), E>,
) -> Result<(), E> {
    let mut query = Query::select();
    query.column(Asterisk).from(Alias::new(&table.name));
    // Rows that point to none of their own table come before those that do.
    for (column, _) in table.references.iter().filter(|(_, to)| *to == table.name) {
        query.order_by_expr(Expr::col(Alias::new(column)).is_not_null(), Order::Asc);
    }
    if let Some(first) = table.columns.first() {
        query.order_by(Alias::new(&first.name), Order::Asc);
    }
    let statement = ConnectionTrait::get_database_backend(db).build(&query);
    let mut rows = db.stream_raw(statement).await?;
    while let Some(row) = rows.try_next().await? {
        let mut json = Map::new();
        for column in &table.columns {
            json.insert(column.name.clone(), column.read(&row)?);
        }
        each(json)?;
    }
    Ok(())
}

/// Writes a row that [`read_rows`] handed over. It has to have a value for each column, and no other.
pub async fn write_row(tx: &DatabaseTransaction, table: &Table, mut row: Map<String, Json>) -> Result<(), DbErr> {
    let mut values = Vec::new();
    for column in &table.columns {
        let value = row.remove(&column.name).and_then(|json| column.kind.value(json));
        let unreadable = || DbErr::Type(format!("a row of {} has no usable {}", table.name, column.name));
        values.push(Expr::val(value.ok_or_else(unreadable)?));
    }
    if let Some(unknown) = row.keys().next() {
        return Err(DbErr::Type(format!("a row of {} has a column {unknown}, which is not known here", table.name)));
    }
    let mut insert = Query::insert();
    insert.into_table(Alias::new(&table.name)).columns(table.columns.iter().map(|column| Alias::new(&column.name)));
    insert.values(values).map_err(|error| DbErr::Custom(error.to_string()))?;
    tx.execute(&insert).await.map(|_| ())
}

/// Whether there is a row.
pub async fn has_rows(db: &impl ConnectionTrait, table: &Table) -> Result<bool, DbErr> {
    let query = Query::select().expr(Expr::val(1)).from(Alias::new(&table.name)).limit(1).to_owned();
    Ok(db.query_one(&query).await?.is_some())
}

/// Removes every row.
pub async fn clear(tx: &DatabaseTransaction, table: &Table) -> Result<(), DbErr> {
    tx.execute(Query::delete().from_table(Alias::new(&table.name))).await.map(|_| ())
}

impl Kind {
    /// The types that migrations give columns, as either database calls them.
    fn of(declared: &str) -> Option<Self> {
        // The order matters: SQLite calls them uuid_text and jsonb_text.
        let kinds: [(&str, Self); 9] = [
            ("uuid", Self::Uuid),
            ("json", Self::Json),
            ("bool", Self::Boolean),
            ("int", Self::Integer),
            ("blob", Self::Bytes),
            ("bytea", Self::Bytes),
            ("binary", Self::Bytes),
            ("char", Self::Text),
            ("text", Self::Text),
        ];
        kinds.into_iter().find(|(part, _)| declared.contains(part)).map(|(_, kind)| kind)
    }

    /// `None` if the JSON is none of this kind.
    fn value(self, json: Json) -> Option<Value> {
        Some(match (self, json) {
            (Self::Text, Json::Null) => Value::String(None),
            (Self::Text, Json::String(text)) => text.into(),
            (Self::Integer, Json::Null) => Value::BigInt(None),
            (Self::Integer, Json::Number(number)) => number.as_i64()?.into(),
            (Self::Boolean, Json::Null) => Value::Bool(None),
            (Self::Boolean, Json::Bool(is)) => is.into(),
            (Self::Bytes, Json::Null) => Value::Bytes(None),
            (Self::Bytes, Json::String(text)) => STANDARD.decode(text).ok()?.into(),
            (Self::Uuid, Json::Null) => Value::Uuid(None),
            (Self::Uuid, Json::String(text)) => text.parse::<Uuid>().ok()?.into(),
            (Self::Json, json) => json.into(),
            _ => return None,
        })
    }
}

impl Column {
    fn read(&self, row: &QueryResult) -> Result<Json, DbErr> {
        let name = self.name.as_str();
        Ok(match self.kind {
            Kind::Text => row.try_get::<Option<String>>("", name)?.into(),
            // PostgreSQL tells integers of different lengths apart.
            Kind::Integer => match row.try_get::<Option<i64>>("", name) {
                Ok(number) => number.into(),
                Err(_) => row.try_get::<Option<i32>>("", name)?.into(),
            },
            Kind::Boolean => row.try_get::<Option<bool>>("", name)?.into(),
            Kind::Bytes => row.try_get::<Option<Vec<u8>>>("", name)?.map(|bytes| STANDARD.encode(bytes)).into(),
            Kind::Uuid => row.try_get::<Option<Uuid>>("", name)?.map(|id| id.to_string()).into(),
            Kind::Json => row.try_get::<Option<Json>>("", name)?.unwrap_or_default(),
        })
    }
}
