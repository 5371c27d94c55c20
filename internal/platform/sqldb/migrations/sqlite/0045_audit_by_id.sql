-- The oldest lines are those of the lowest ids: they are removed along the primary key, and no write keeps an index of their times.
DROP INDEX audit_log_age;
