use super::*;

fn library() -> &'static Library {
    Library::builtin()
}

#[track_caller]
fn symbol(name: &str) -> &'static Symbol {
    library().lookup(name).unwrap_or_else(|| panic!("{name} is known"))
}

#[track_caller]
fn kind(name: &str) -> Kind {
    library().kind_of_class(symbol(name))
}

fn every_symbol() -> impl Iterator<Item = &'static Symbol> {
    let symbols = library().symbols.values().map(Entry::symbol);
    symbols.flat_map(|symbol| std::iter::once(symbol).chain(&symbol.members))
}

#[test]
fn tables_can_be_read() {
    for (file, source) in TABLES {
        let table = Table::split(source, Cow::Borrowed).unwrap_or_else(|error| panic!("{file}: {error}"));
        for (name, row) in table.rows {
            let symbol = row.read(Cow::Borrowed).unwrap_or_else(|error| panic!("{file}: {error}"));
            assert_eq!(symbol.name, name, "the name of a row in {file}");
        }
    }
}

#[test]
fn no_row_is_in_two_tables() {
    let mut names: FxHashMap<Text, &str> = FxHashMap::default();
    let mut aliases = names.clone();
    for (file, source) in TABLES {
        let table = Table::split(source, Cow::Borrowed).unwrap_or_default();
        for (name, _) in table.rows {
            let other = names.insert(name.clone(), file);
            assert_eq!(other, None, "{name} is also in {file}");
        }
        for (alias, _) in table.aliases {
            assert_eq!(aliases.insert(alias.clone(), file), None, "alias {alias} is also in {file}");
        }
    }
}

#[test]
fn a_row_names_only_classes_that_have_a_row() {
    let mut wrong = Vec::new();
    for symbol in library().symbols.values().map(Entry::symbol) {
        let mut symbol = symbol.clone();
        let name = symbol.name.clone();
        let unknown =
            symbol.classes_named().filter(|class| !library().symbol(class).is_some_and(Symbol::is_class));
        wrong.extend(unknown.map(|class| format!("{name} names {class}")));
    }
    wrong.sort();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_symbol_is_in_a_module_that_has_a_row() {
    let mut wrong: Vec<_> = library()
        .symbols
        .keys()
        .filter_map(|name| name.rsplit_once('.'))
        .filter(|(module, _)| !library().symbol(module).is_some_and(Symbol::is_module))
        .collect();
    wrong.sort_unstable();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn aliases_lead_to_rows() {
    let known = |name: &str| library().lookup(name).is_some();
    let mut wrong: Vec<_> = library().aliases.iter().filter(|(_, to)| !known(to)).collect();
    wrong.sort();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let mut hidden: Vec<_> =
        library().aliases.keys().filter(|from| library().symbol(from).is_some()).collect();
    hidden.sort();
    assert!(hidden.is_empty(), "a row hides the alias: {hidden:#?}");
}

#[test]
fn no_class_inherits_from_itself() {
    for class in every_symbol().filter(|symbol| symbol.is_class()) {
        let ancestry = library().ancestry(class);
        assert!(ancestry[1..].iter().all(|base| !library().is_subclass(base, class)), "{}", class.name);
    }
}

#[test]
fn spellings_of_a_name_lead_to_one_symbol() {
    for (spelling, name) in [
        ("tensorflow.optimizers.Adam", "tensorflow.keras.optimizers.Adam"),
        ("keras.optimizers.Adam", "tensorflow.keras.optimizers.Adam"),
        ("tf_keras.optimizers.Adam", "tensorflow.keras.optimizers.Adam"),
        ("tensorflow.python.keras.optimizers.Adam", "tensorflow.keras.optimizers.Adam"),
        ("tensorflow.compat.v2.keras.optimizers.Adam", "tensorflow.keras.optimizers.Adam"),
        ("tensorflow.compat.v2.optimizers.Adam", "tensorflow.keras.optimizers.Adam"),
        ("tensorflow.keras.optimizers.experimental.Adam", "tensorflow.keras.optimizers.Adam"),
        ("tensorflow.optimizers.legacy.Adam", "tensorflow.keras.optimizers.legacy.Adam"),
        ("tensorflow.compat.v1.keras.optimizers.Adam", "tensorflow.keras.optimizers.legacy.Adam"),
        ("keras.optimizer_v2.adam.Adam", "tensorflow.keras.optimizers.legacy.Adam"),
        ("tensorflow.train.AdamOptimizer", "tensorflow.compat.v1.train.AdamOptimizer"),
        ("tensorflow.train.MonitoredTrainingSession", "tensorflow.compat.v1.train.MonitoredTrainingSession"),
        ("tensorflow.Session", "tensorflow.compat.v1.Session"),
        ("tensorflow.losses.softmax_cross_entropy", "tensorflow.compat.v1.losses.softmax_cross_entropy"),
        ("tensorflow.compat.v1.GradientTape", "tensorflow.GradientTape"),
        ("tensorflow.compat.v1.keras.Model", "tensorflow.keras.Model"),
        ("tensorflow.keras.models.Model", "tensorflow.keras.Model"),
        ("keras.models.Sequential", "tensorflow.keras.Sequential"),
        ("keras.engine.topology.Layer", "tensorflow.keras.layers.Layer"),
        ("keras.layers.core.Dense", "tensorflow.keras.layers.Dense"),
        ("tensorflow.losses.Loss", "tensorflow.keras.losses.Loss"),
        (
            "horovod.keras.callbacks.MetricAverageCallback",
            "horovod.tensorflow.keras.callbacks.MetricAverageCallback",
        ),
        ("horovod.keras.rank", "horovod.tensorflow.rank"),
        ("horovod.tensorflow.keras.rank", "horovod.tensorflow.rank"),
        ("keras", "tensorflow.keras"),
        ("tensorflow.keras", "tensorflow.keras"),
    ] {
        assert_eq!(library().canonical(spelling), name, "{spelling}");
        assert_eq!(symbol(spelling).name(), name, "{spelling}");
    }
}

#[test]
fn other_names_are_unknown() {
    for name in [
        "",
        "tensor",
        "tensorflow.keras.optimizers.Adams",
        "tensorflow.keras.optimizers.Adam.minimise",
        "mypackage.keras.optimizers.Adam",
        "tensorflows.keras",
        "keras.optimizers.",
        "torch.optim.Adam",
        // Names of its own live in `horovod.tensorflow.keras` only.
        "horovod.tensorflow.callbacks",
        "horovod.tensorflow.load_model",
        // And the other way round.
        "horovod.tensorflow.keras.DistributedGradientTape",
        "horovod.tensorflow.keras.broadcast_variables",
        "horovod.keras.ProcessSet",
        "horovod.tensorflow.barrier",
        "horovod.tensorflow.keras.barrier",
    ] {
        assert!(library().lookup(name).is_none(), "{name}");
    }
    assert_eq!(library().canonical("mypackage.keras"), "mypackage.keras");
    assert_eq!(library().canonical("keras.optimizers.Adams"), "tensorflow.keras.optimizers.Adams");
    assert!(matches!(symbol("horovod.tensorflow.keras").role(), Role::Module { closed: true, .. }));
    assert!(matches!(symbol("tensorflow.keras").role(), Role::Module { closed: false, .. }));
}

#[test]
fn classes_have_the_kind_of_their_bases() {
    for (name, expected) in [
        ("tensorflow.keras.optimizers.SGD", Kind::Optimizer),
        ("tensorflow.keras.optimizers.legacy.Adam", Kind::Optimizer),
        ("tensorflow.train.GradientDescentOptimizer", Kind::Optimizer),
        ("tensorflow.keras.mixed_precision.LossScaleOptimizer", Kind::Optimizer),
        ("tensorflow_addons.optimizers.Lookahead", Kind::Optimizer),
        ("tensorflow.keras.optimizers.schedules.ExponentialDecay", Kind::Schedule),
        ("tensorflow_addons.optimizers.TriangularCyclicalLearningRate", Kind::Schedule),
        ("tensorflow.keras.Sequential", Kind::Model),
        ("tensorflow.keras.layers.Dense", Kind::Layer),
        ("tensorflow.keras.layers.LSTM", Kind::Layer),
        ("tensorflow.data.TFRecordDataset", Kind::Dataset),
        ("tensorflow.compat.v1.data.TextLineDataset", Kind::Dataset),
        ("tensorflow.compat.v1.data.Iterator", Kind::DatasetIterator),
        ("tensorflow.train.Checkpoint", Kind::Checkpoint),
        ("tensorflow.train.Saver", Kind::Saver),
        ("tensorflow.train.CheckpointManager", Kind::CheckpointManager),
        ("tensorflow.keras.callbacks.EarlyStopping", Kind::Callback),
        ("horovod.keras.callbacks.BestModelCheckpoint", Kind::Callback),
        ("tensorflow.keras.metrics.MeanSquaredError", Kind::Metric),
        ("tensorflow.keras.losses.MeanSquaredError", Kind::Loss),
        ("tensorflow.GradientTape", Kind::Tape),
        ("tensorflow.Session", Kind::Session),
        ("tensorflow.summary.SummaryWriter", Kind::SummaryWriter),
        ("tensorflow.io.TFRecordWriter", Kind::FileWriter),
        ("io.TextIOWrapper", Kind::FileWriter),
        ("tensorflow.Variable", Kind::Variable),
        ("tensorflow.RaggedTensor", Kind::Tensor),
        ("tensorflow.distribute.MirroredStrategy", Kind::Strategy),
        ("tensorflow.estimator.DNNClassifier", Kind::Estimator),
        ("tensorflow.train.StopAtStepHook", Kind::Hook),
        ("horovod.tensorflow.BroadcastGlobalVariablesHook", Kind::Hook),
        ("numpy.random.RandomState", Kind::Random),
        ("tensorflow.keras.preprocessing.image.DirectoryIterator", Kind::BatchSource),
        ("tensorflow.keras.utils.Sequence", Kind::BatchSource),
        ("builtins.list", Kind::Other),
        ("tensorflow.Module", Kind::Other),
        ("tensorflow.keras.preprocessing.image.ImageDataGenerator", Kind::Other),
    ] {
        assert_eq!(kind(name), expected, "{name}");
    }
    let (model, layer) = (symbol("keras.Model"), symbol("keras.layers.Layer"));
    assert!(library().is_subclass(symbol("keras.Sequential"), model));
    assert!(library().is_subclass(symbol("keras.Sequential"), layer));
    assert!(!library().is_subclass(layer, model));
}

#[test]
fn members_are_inherited() {
    for (class, member, name) in [
        ("keras.optimizers.SGD", "apply_gradients", "tensorflow.keras.optimizers.Optimizer.apply_gradients"),
        ("keras.Sequential", "fit", "tensorflow.keras.Model.fit"),
        ("keras.Sequential", "add", "tensorflow.keras.Sequential.add"),
        ("keras.Sequential", "__call__", "tensorflow.keras.layers.Layer.__call__"),
        ("tensorflow.data.TFRecordDataset", "map", "tensorflow.data.Dataset.map"),
        ("tensorflow.train.AdamOptimizer", "minimize", "tensorflow.compat.v1.train.Optimizer.minimize"),
    ] {
        assert_eq!(library().member(symbol(class), member).map(Symbol::name), Some(name));
        assert_eq!(symbol(&format!("{class}.{member}")).name(), name);
    }
    assert!(library().member(symbol("keras.optimizers.SGD"), "fit").is_none());
    assert!(library().member(symbol("keras.layers.Dense"), "fit").is_none(), "a layer is no model");
}

#[test]
fn parameters_stand_where_python_has_them() {
    for (name, parameter, position, default) in [
        ("keras.optimizers.Adam", "learning_rate", 0, Some("0.001")),
        ("keras.optimizers.SGD", "learning_rate", 0, Some("0.01")),
        ("keras.optimizers.SGD", "momentum", 1, Some("0.0")),
        ("keras.optimizers.Lion", "learning_rate", 0, Some("0.0001")),
        ("keras.optimizers.AdamW", "weight_decay", 1, Some("0.004")),
        ("keras.optimizers.legacy.Adadelta", "learning_rate", 0, Some("0.001")),
        ("tensorflow.train.AdamOptimizer", "learning_rate", 0, Some("0.001")),
        ("tensorflow.train.GradientDescentOptimizer", "learning_rate", 0, None),
        ("keras.optimizers.schedules.ExponentialDecay", "initial_learning_rate", 0, None),
        ("keras.optimizers.schedules.PiecewiseConstantDecay", "values", 1, None),
        ("keras.optimizers.schedules.CosineDecay", "decay_steps", 1, None),
        ("keras.Model.compile", "optimizer", 0, Some("'rmsprop'")),
        ("keras.Model.fit", "epochs", 3, Some("1")),
        ("keras.Model.fit", "verbose", 4, Some("'auto'")),
        ("keras.Model.fit", "callbacks", 5, Some("None")),
        ("keras.Model.fit", "steps_per_epoch", 12, Some("None")),
        ("keras.Model.evaluate", "verbose", 3, Some("'auto'")),
        ("keras.Model.evaluate", "callbacks", 6, Some("None")),
        ("tensorflow.data.Dataset.take", "count", 0, None),
        ("tensorflow.data.Dataset.batch", "drop_remainder", 1, Some("False")),
        ("tensorflow.data.Dataset.shard", "index", 1, None),
        ("tensorflow.data.Dataset.repeat", "count", 0, Some("None")),
        ("tensorflow.train.Checkpoint", "root", 0, Some("None")),
        ("tensorflow.train.CheckpointManager", "directory", 1, None),
        ("keras.callbacks.ModelCheckpoint", "filepath", 0, None),
        ("horovod.tensorflow.broadcast_variables", "root_rank", 1, None),
        ("horovod.tensorflow.DistributedOptimizer", "optimizer", 0, None),
        ("horovod.keras.callbacks.BroadcastGlobalVariablesCallback", "root_rank", 0, None),
        ("horovod.keras.callbacks.LearningRateWarmupCallback", "warmup_epochs", 1, Some("5")),
        ("tensorflow.train.StopAtStepHook", "last_step", 1, Some("None")),
        ("builtins.print", "values", 0, None),
    ] {
        let symbol = symbol(name);
        let found = symbol.parameter(parameter).unwrap_or_else(|| panic!("{name} has {parameter}"));
        assert_eq!(symbol.parameter_at(position), Some(found), "{name}");
        assert_eq!(found.default(), default, "{name} {parameter}");
    }
    let print = symbol("builtins.print");
    assert_eq!(print.parameter_at(7).map(Parameter::name), Some("values"), "the rest of the positions");
    assert_eq!(print.position_of("file"), None, "by keyword only");
    assert_eq!(symbol("builtins.sorted").position_of("key"), None);
    assert!(symbol("keras.Model.fit").parameter_at(99).is_none());
}

#[test]
fn rates_grow_and_steps_are_shared() {
    for (name, expected) in [
        ("keras.optimizers.Adam", Some(("learning_rate", Scaling::Multiply))),
        ("keras.optimizers.schedules.CosineDecay", Some(("initial_learning_rate", Scaling::Multiply))),
        ("tensorflow.train.exponential_decay", Some(("learning_rate", Scaling::Multiply))),
        ("tensorflow.train.piecewise_constant", Some(("values", Scaling::Multiply))),
        ("tensorflow.data.Dataset.take", Some(("count", Scaling::Divide))),
        ("keras.Model.fit", Some(("steps_per_epoch", Scaling::Divide))),
        // A batch is a rank's own.
        ("tensorflow.data.Dataset.batch", None),
        // A wrapper takes the rate of the optimizer inside.
        ("keras.mixed_precision.LossScaleOptimizer", None),
    ] {
        assert_eq!(symbol(name).scaled().next(), expected, "{name}");
    }
}

#[test]
fn every_optimizer_and_schedule_says_what_grows() {
    let silent = every_symbol().filter(|symbol| {
        symbol.is_class()
            && matches!(library().kind_of_class(symbol), Kind::Optimizer | Kind::Schedule)
            && symbol.parameter("learning_rate").or(symbol.parameter("initial_learning_rate")).is_some()
            && symbol.scaled.is_empty()
    });
    assert_eq!(silent.map(Symbol::name).collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn effects_tell_what_a_call_does() {
    for (name, effect) in [
        ("keras.Model.fit", Effect::Trains),
        ("keras.Sequential.train_on_batch", Effect::Trains),
        ("keras.Model.evaluate", Effect::Evaluates),
        ("keras.Model.compile", Effect::Compiles),
        ("keras.models.load_model", Effect::LoadsModel),
        ("keras.Model.load_weights", Effect::LoadsWeights),
        ("keras.optimizers.Adam.apply_gradients", Effect::AppliesGradients),
        ("tensorflow.train.AdamOptimizer.minimize", Effect::Minimizes),
        ("tensorflow.GradientTape.gradient", Effect::TakesGradients),
        ("tensorflow.gradients", Effect::TakesGradients),
        ("horovod.tensorflow.allreduce", Effect::Collective),
        ("horovod.keras.allreduce", Effect::Collective),
        ("horovod.tensorflow.join", Effect::Collective),
        ("horovod.tensorflow.broadcast_variables", Effect::Broadcasts),
        ("horovod.keras.init", Effect::Initializes),
        ("horovod.keras.rank", Effect::ReadsRank),
        ("horovod.tensorflow.local_rank", Effect::ReadsLocalRank),
        ("horovod.tensorflow.size", Effect::ReadsSize),
        ("horovod.keras.DistributedOptimizer", Effect::Distributes),
        ("keras.Model.save", Effect::WritesFile),
        ("tensorflow.train.Checkpoint.save", Effect::WritesFile),
        ("tensorflow.train.CheckpointManager.save", Effect::WritesFile),
        ("numpy.savez", Effect::WritesFile),
        ("os.makedirs", Effect::WritesFile),
        ("json.dump", Effect::WritesFile),
        ("matplotlib.pyplot.savefig", Effect::WritesFile),
        ("PIL.Image.Image.save", Effect::WritesFile),
        ("tensorflow.summary.scalar", Effect::WritesSummary),
        ("keras.Model.summary", Effect::Prints),
        ("logging.info", Effect::Prints),
        ("tensorflow.print", Effect::Prints),
        ("builtins.input", Effect::ReadsInput),
        ("builtins.next", Effect::ConsumesIterator),
        ("builtins.list.append", Effect::UpdatesState),
        ("tensorflow.Variable.assign_add", Effect::UpdatesState),
        ("keras.metrics.Mean.update_state", Effect::UpdatesState),
        ("keras.metrics.Mean.reset_states", Effect::UpdatesState),
        ("numpy.random.rand", Effect::DrawsRandom),
        ("tensorflow.random.normal", Effect::DrawsRandom),
        ("random.seed", Effect::SeedsRandom),
        ("tensorflow.config.experimental.set_visible_devices", Effect::PinsDevice),
        ("tensorflow.data.Dataset.shard", Effect::Shards),
        ("time.time", Effect::Varies),
    ] {
        assert!(symbol(name).has(effect), "{name} {effect:?}");
    }
    for (name, effect) in [
        // Measured: safe under a guard, they don't communicate.
        ("keras.Model.evaluate", Effect::Collective),
        ("keras.Model.save", Effect::Collective),
        ("keras.optimizers.Adam.apply_gradients", Effect::Collective),
        ("horovod.tensorflow.DistributedOptimizer", Effect::Collective),
        // No output: an array of tensors.
        ("tensorflow.TensorArray.write", Effect::WritesFile),
        ("horovod.tensorflow.local_rank", Effect::ReadsRank),
        ("builtins.len", Effect::ConsumesIterator),
        ("tensorflow.random.stateless_uniform", Effect::DrawsRandom),
        ("keras.Model.evaluate", Effect::Trains),
    ] {
        assert!(!symbol(name).has(effect), "{name} {effect:?}");
    }
}

#[test]
fn callbacks_differ_in_what_their_hooks_do() {
    let effects = |name: &str| library().hook_effects(symbol(name));
    assert!(effects("keras.callbacks.ModelCheckpoint").contains(Effect::WritesFile));
    assert!(effects("horovod.keras.callbacks.BestModelCheckpoint").contains(Effect::WritesFile));
    assert!(effects("keras.callbacks.EarlyStopping").contains(Effect::SteersTraining));
    assert!(!effects("keras.callbacks.EarlyStopping").contains(Effect::WritesFile));
    assert!(effects("keras.callbacks.LearningRateScheduler").contains(Effect::SteersTraining));
    assert!(!effects("keras.callbacks.LearningRateScheduler").contains(Effect::ReadsMetrics));
    assert!(effects("horovod.keras.callbacks.MetricAverageCallback").contains(Effect::Averages));
    assert!(effects("keras.callbacks.History").is_empty());
}

#[test]
fn a_call_returns_what_the_library_makes() {
    let returned = |name: &str| library().returned_class(symbol(name)).map(Symbol::name);
    assert_eq!(returned("tensorflow.data.Dataset.batch"), Some("tensorflow.data.Dataset"));
    assert_eq!(returned("keras.utils.image_dataset_from_directory"), Some("tensorflow.data.Dataset"));
    assert_eq!(returned("keras.preprocessing.image_dataset_from_directory"), Some("tensorflow.data.Dataset"));
    assert_eq!(returned("keras.applications.ResNet50"), Some("tensorflow.keras.Model"));
    assert_eq!(returned("keras.models.load_model"), Some("tensorflow.keras.Model"));
    assert_eq!(returned("keras.optimizers.Adam"), Some("tensorflow.keras.optimizers.Adam"));
    assert_eq!(returned("tensorflow.matmul"), Some("tensorflow.Tensor"));
    assert_eq!(
        *symbol("tensorflow_datasets.load").returns(),
        Returns::Perhaps("tensorflow.data.Dataset".into())
    );
    assert_eq!(*symbol("builtins.list.append").returns(), Returns::Nothing);
    assert_eq!(*symbol("tensorflow.function").returns(), Returns::Wrapped("func".into()));
    assert_eq!(
        *symbol("horovod.tensorflow.DistributedGradientTape").returns(),
        Returns::Wrapped("gradtape".into())
    );
    assert_eq!(*symbol("functools.partial").returns(), Returns::Partial("func".into()));
    assert_eq!(*symbol("functools.wraps").returns(), Returns::Decorator);
    assert_eq!(*symbol("tensorflow.GradientTape.__enter__").returns(), Returns::Receiver);
    assert_eq!(
        *symbol("tensorflow.distribute.MirroredStrategy.run").returns(),
        Returns::ResultOf("fn".into())
    );
}

#[test]
fn the_library_calls_back() {
    let argument = |name: &str| Calls::Argument(name.to_owned().into());
    assert_eq!(symbol("tensorflow.data.Dataset.map").calls(), [argument("map_func")]);
    assert_eq!(symbol("tensorflow.cond").calls(), [argument("true_fn"), argument("false_fn")]);
    assert_eq!(symbol("absl.app.run").calls(), [argument("main")]);
    assert_eq!(symbol("threading.Thread").calls(), [argument("target")]);
    let fit = symbol("keras.Model.fit").calls();
    assert!(fit.contains(&Calls::Receiver("train_step".into())));
    assert!(fit.contains(&Calls::ArgumentMethod("callbacks".into(), "on_epoch_end".into())));
    assert!(fit.contains(&Calls::ArgumentMethod("x".into(), "__getitem__".into())));
    assert!(symbol("keras.layers.Dense.__call__").calls().contains(&Calls::Receiver("call".into())));
    assert!(symbol("tensorflow.matmul").calls().is_empty());
}

#[test]
fn rules_act_on_some_members_only() {
    for name in [
        "tensorflow.optimizers.Adam",
        "tensorflow.optimizers",
        "tensorflow.keras",
        "tensorflow.train",
        "tensorflow.data",
        "tensorflow.data.Dataset",
        "tensorflow.data.TFRecordDataset",
        "tensorflow.data.experimental.make_csv_dataset",
        "tensorflow.compat.v1",
        "tensorflow.keras.optimizers.schedules.ExponentialDecay",
        "tensorflow.train.Checkpoint",
        "tensorflow.train.CheckpointManager",
        "tensorflow.GradientTape",
        "tensorflow.keras.Model",
        "tensorflow.keras.Sequential",
        "tensorflow.config",
        "tensorflow.config.set_visible_devices",
        "tensorflow.print",
    ] {
        assert!(library().acted_on_by_rules(symbol(name)), "{name}");
    }
    for name in ["tensorflow.nn.relu", "tensorflow.keras.layers.Dense", "tensorflow.nn", "tensorflow.float32"]
    {
        assert!(!library().acted_on_by_rules(symbol(name)), "{name}");
    }
}

#[test]
fn training_libraries_are_known() {
    for package in ["tensorflow", "keras", "tf_keras", "horovod", "tensorflow_addons", "tensorflow_datasets"]
    {
        assert!(library().is_training_library(package), "{package}");
    }
    for package in ["numpy", "os", "builtins", "matplotlib", "torch", "mypackage"] {
        assert!(!library().is_training_library(package), "{package}");
    }
}

#[test]
fn users_add_rows() {
    let rows = "
        [mylib]
        class Ranger(learning_rate=0.001) < tensorflow.keras.optimizers.Optimizer * learning_rate
        class Net(units) < keras.models.Model
        class DeepNet(units) < Net
        def all_mean(x) -> tensorflow.Tensor ! collective averages
        alias mylib.optim = mylib
    ";
    let library = Library::with_rows(rows).expect("the rows are right");
    let ranger = library.lookup("mylib.optim.Ranger").expect("by its alias");
    assert_eq!(library.kind_of_class(ranger), Kind::Optimizer);
    assert!(library.member(ranger, "minimize").is_some());
    assert!(library.acted_on_by_rules(ranger));
    assert!(library.lookup("mylib.DeepNet.fit").is_some_and(|fit| fit.has(Effect::Trains)));
    assert!(library.lookup("mylib.all_mean").is_some_and(|mean| mean.has(Effect::Collective)));
    assert!(library.lookup("keras.optimizers.Adam").is_some(), "the built-in rows stay");
    assert!(self::library().lookup("mylib.Ranger").is_none(), "and don't change");
}

#[test]
fn wrong_rows_are_refused() {
    for (rows, line, message) in [
        ("klass A", 1, "`klass` begins no row: class, def, attr, alias, fallback do"),
        ("[m]\ndef f(a) ! writes", 2, "`writes` is no effect"),
        ("class m.A : optimiser", 1, "`optimiser` is no kind"),
        ("def m.f(a) @ b", 1, "`b` is no parameter of `m.f`"),
        ("def m.f(a, a)", 1, "two parameters are called `a`"),
        ("def m.f(a", 1, "a parenthesis is not closed"),
        ("def m.f < A", 1, "only a class has bases"),
        (".f()", 1, "a member follows its class"),
        ("def m.f\n\ndef m.f", 3, "`m.f` is there twice"),
        ("class m.A\n.f()\n.f", 1, "`m.A.f` is there twice"),
        ("class m.A < m.B", 1, "no row is the class `m.B`"),
    ] {
        let error = Library::with_rows(rows).expect_err(rows);
        assert_eq!((error.line, error.message.as_str()), (line, message));
    }
}
